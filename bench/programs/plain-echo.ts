/* The other end of the plain mailbox: sends back what it gets. `plain-echo.ts <in> <out>` */
import { listenPlainly, sendPlainly } from "../harness/plain-mailbox.ts";

const [incoming = "", outgoing = ""] = process.argv.slice(2);
let sent = 0;
listenPlainly(incoming, (text) => {
  sent += 1;
  void sendPlainly(outgoing, sent, text);
});
process.send?.("ready");
