/** Rights that actions on tasks take, by whatever way. */
export const taskRights = {
  look: { role: "member", fromMain: "admin", own: true },
  make: { role: "guest", fromMain: "admin" },
  change: { role: "admin", fromMain: "admin", own: true },
} as const;
