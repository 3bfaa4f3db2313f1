// Queries that a change of the frame makes stale: its figures, those of the keys below it, and the audit log.
export const madeOldByFrame = [['frame'], ['keys'], ['audit']] as const
