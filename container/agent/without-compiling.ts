/*
 * Imported before any schema is made. For each schema zod would try whether it may compile code, and then do so at
 * first use: that pays off for who reads thousands of messages, and an agent reads few.
 */
import { config } from "zod";

config({ jitless: true });
