import { Transform } from "node:stream";

const headerBytes = 8;

/**
 * Takes the engine's multiplexed stream (frames of an 8-byte header, whose last four bytes are the payload's length,
 * and the payload) and gives the payloads of stdout and stderr in the order they came. Holds back at most one header,
 * however long a frame claims to be, and no more than its reader takes: docker-modem's own way holds whole frames, and
 * all of what is read slowly.
 */
export function demultiplex(): Transform {
  let header: Buffer = Buffer.alloc(0);
  let payloadLeft = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      let rest = chunk;
      while (rest.length > 0) {
        if (payloadLeft > 0) {
          const payload = rest.subarray(0, payloadLeft);
          this.push(payload);
          payloadLeft -= payload.length;
          rest = rest.subarray(payload.length);
        } else {
          const wanted = headerBytes - header.length;
          header = Buffer.concat([header, rest.subarray(0, wanted)]);
          rest = rest.subarray(wanted);
          if (header.length < headerBytes) break;
          payloadLeft = header.readUInt32BE(4);
          header = Buffer.alloc(0);
        }
      }
      done();
    },
  });
}
