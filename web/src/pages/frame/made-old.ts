// What a change of the frame makes old: its figures, those of the keys below it, and the record.
export const madeOldByFrame = [['frame'], ['keys'], ['audit']] as const
