export { freePort } from "../../redteam/suite/free-port.ts";
