/** Raised by one when host and agent of different versions would misunderstand each other. */
export const protocolVersion = 6;
