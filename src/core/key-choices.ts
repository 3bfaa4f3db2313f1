// What a key is chosen to be, from closed lists: for the store, the command line and the forms.

/** The sandbox answers test keys. */
export const KEY_MODES = ['live', 'test'] as const
export type KeyMode = (typeof KEY_MODES)[number]

/** Near the end of a budget: shorten the answer, or refuse the call. */
export const WHEN_TIGHT = ['cap', 'refuse'] as const
export type WhenTight = (typeof WHEN_TIGHT)[number]
