/** Rights that ending a job takes, by whatever way. */
export const stopRights = { role: "admin", own: true } as const;

export const stopRefusal = "A job can be stopped by whoever asked for it, or an admin.";
