// The moments of a request, and what has just ended at each: the time since the moment before it is that step's. A moment
// that a contender does not have adds its time to the next one.

/** Of each of the two batches, on SQLite. */
const BATCH_MARKS = ['posted', 'taken', 'begun', 'decided', 'committed', 'replied', 'back'] as const

export const MARKS = [
  ...(['request', 'key known', 'sent upstream', 'head', 'answer'] as const),
  ...(['hold asked', 'held', 'settlement asked', 'settled'] as const),
  ...BATCH_MARKS,
  // Of each trip to PostgreSQL.
  ...(['written', 'received'] as const),
] as const

export function isOfBatch(name: MarkName): boolean {
  return BATCH_MARKS.some((each) => each === name)
}

export type MarkName = (typeof MARKS)[number]

/** When, by the machine's own clock in milliseconds, and which of MARKS. */
export type Marked = readonly [atMs: number, mark: number]

/** Where the stages that wrap-ledger.ts and wrap-authenticate.ts surround are published, by name. */
export const STAGE_CHANNEL = 'tollgate:bench:stage'

/** The client has the last byte of its answer. */
export const LAST_BYTE = 'last byte'

/** In the order of a request. */
export const STEPS: Readonly<Record<string, string>> = {
  request: 'HTTP in: from the client to the handler',
  'key known': 'the key',
  'hold asked': 'body, model, routes, worst case',
  ...stepsOf('hold', 'held'),
  'sent upstream': 'the request to the provider is made and sent',
  head: 'the provider answers',
  answer: 'the rest of its answer',
  'settlement asked': 'read, metered and priced',
  ...stepsOf('settlement', 'settled'),
  [LAST_BYTE]: 'the answer is made and sent, to its last byte',
}

function stepsOf(batch: string, end: string): Readonly<Record<string, string>> {
  return {
    [`${batch} posted`]: `${batch}: checked, queued and packed`,
    [`${batch} taken`]: `${batch}: crossing to the database’s thread`,
    [`${batch} begun`]: `${batch}: the transaction begins`,
    [`${batch} decided`]: `${batch}: unpacked, decided, rows written`,
    [`${batch} committed`]: `${batch}: commit, and with it the disk`,
    [`${batch} replied`]: `${batch}: result packed`,
    [`${batch} back`]: `${batch}: crossing back`,
    [`${batch} written 1`]: `${batch}: checked, queued, statements sent`,
    [`${batch} received 1`]: `${batch}: first trip to PostgreSQL`,
    [`${batch} written 2`]: `${batch}: between the trips`,
    [`${batch} received 2`]: `${batch}: second trip to PostgreSQL`,
    [end]: `${batch}: unpacked, the request goes on`,
  }
}
