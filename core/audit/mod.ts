/** The door for those who read the log; writing it is the path's own business. */
export { readStoredLog, type StoredLog } from "../store/append_log.ts";
export { type AuditEntry, type AuditFilter, entriesOf, keeps } from "./entries.ts";
export { type ChainFault, type Verified, verifyLog } from "./verify.ts";
export { auditLogOf } from "./place.ts";
