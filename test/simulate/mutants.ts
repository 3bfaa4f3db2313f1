// Mistakes that would break a promise of the ledger, each as small as a slip of the pen: one exported function or class,
// replaced by one that is wrong. The simulation must find every one of them; a mistake it cannot find means a promise
// that no test guards.
import { costAtMost, type judge, type Legs } from '../../src/ledger/rules/judge.ts'
import type { Beat, FailureDetector } from '../../src/ledger/nodes/failure-detector.ts'
import type { openPeriod } from '../../src/ledger/rules/account.ts'
import type { CheckedAsk, Snapshot } from '../../src/ledger/rules/batch.ts'
import type { Account, UsageRow } from '../../src/ledger/rules/rows.ts'
import type { WorkingSet } from '../../src/ledger/rules/working-set.ts'
import type { Faults } from './memory-database.ts'
import { replacing, type Mutation } from './rules.ts'

export type Mutant = { readonly name: string } & (
  | { readonly mutation: Mutation }
  | { readonly faults: Faults }
)

export const MUTANTS: readonly Mutant[] = [
  { name: 'a fenced node may commit', faults: { noFence: true } },
  { name: 'periods follow the clock of the node', faults: { clockOfNode: true } },

  // What is judged differs from what is true.
  judgingAccounts('nothing is refused', unlimited, unlimited),
  judgingAccounts('the last nano-dollar is refused', withLessLimit, withLessLimit),
  judgingAccounts('only the key is checked', asItIs, unlimited),
  judgingAccounts('only the frame is checked', unlimited, asItIs),
  judgingAccounts('holds do not count', withoutHolds, withoutHolds),
  judgingAccounts('one request too many runs at once', withMoreConcurrency, asItIs),
  judging('room is rounded up', (judge) => (ask, legs, now) => {
    const candidates = ask.candidates.map((worst) => {
      const { fixedPicodollars: fixed } = worst
      return { ...worst, fixedPicodollars: fixed > 999n ? fixed - 999n : 0n }
    })
    return heldInFull(ask, judge({ ...ask, candidates }, legs, now))
  }),
  judging('an output is capped to more than fits', (judge) => (ask, legs, now) => {
    const verdict = judge(ask, legs, now)
    if (!verdict.reserved || !verdict.capped) return verdict
    const outputTokens = verdict.outputTokens + 1
    const grants = verdict.grants?.map((grant) =>
      typeof grant === 'string' || !grant.capped ? grant : { ...grant, outputTokens },
    )
    return heldInFull(ask, { ...verdict, outputTokens, ...(grants && { grants }) })
  }),
  judging('the first target is held for, not the dearest', (judge) => (ask, legs, now) => {
    const verdict = judge(ask, legs, now)
    if (!verdict.reserved || verdict.grants === undefined) return verdict
    const first = verdict.grants.findIndex((grant) => typeof grant !== 'string')
    return { ...verdict, amountNanodollars: costOf(ask, first, verdict.outputTokens) }
  }),
  judging('a target that does not fit is kept', (judge) => (ask, legs, now) => {
    const verdict = judge(ask, legs, now)
    if (!verdict.reserved || verdict.grants === undefined) return verdict
    const whole = { outputTokens: verdict.outputTokens, capped: false }
    return { ...verdict, grants: verdict.grants.map((each) => (each === 'held' ? whole : each)) }
  }),
  judging(
    'a target after the one that holds keep out is taken at once',
    (judge) => (ask, legs, now) => judge({ ...ask, isLastTry: true }, legs, now),
  ),
  judging(
    'the last try still waits',
    (judge) => (ask, legs, now) => judge({ ...ask, isLastTry: false }, legs, now),
  ),
  judging('one target that does not fit refuses the request', (judge) => (ask, legs, now) => {
    const first = judge({ ...ask, candidates: ask.candidates.slice(0, 1) }, legs, now)
    return first.reserved ? judge(ask, legs, now) : first
  }),
  judging('a refusal names the dearest target', (judge) => (ask, legs, now) => {
    const verdict = judge(ask, legs, now)
    if (verdict.reserved || verdict.reason !== 'budget') return verdict
    const costs = ask.candidates.map((worst) => costAtMost(worst, worst.outputTokens))
    const candidate = costs.indexOf(costs.reduce((one, other) => (one > other ? one : other)))
    const alone = ask.candidates.slice(candidate, candidate + 1)
    const refusal = judge({ ...ask, candidates: alone }, legs, now)
    const isShort = !refusal.reserved && refusal.reason === 'budget'
    return isShort ? { ...refusal, shortage: { ...refusal.shortage, candidate } } : verdict
  }),
  judging('a refusal leaves an amount held', (judge) => (ask, legs, now) => {
    const verdict = judge(ask, legs, now)
    if (!verdict.reserved) legs.key.held += 1n
    if (!verdict.reserved) legs.frame.held += 1n
    return verdict
  }),
  {
    name: 'a retried ask is told of targets that its hold does not pay for',
    mutation: replacing(
      'rules/judge.ts',
      'grantsWithin',
      () =>
        (ask, { outputTokens, capped }) =>
          ask.candidates.map((worst) => {
            return { outputTokens: Math.min(outputTokens, worst.outputTokens), capped }
          }),
    ),
  },
  {
    name: 'an extension ignores the limit',
    mutation: replacing(
      'rules/judge.ts',
      'mayExtend',
      (mayExtend) => (hold, legs, extra) =>
        mayExtend(hold, { key: unlimited(legs.key), frame: unlimited(legs.frame) }, extra),
    ),
  },
  {
    name: 'an extension grows a closed period',
    mutation: replacing('rules/judge.ts', 'mayExtend', (mayExtend) => (hold, legs, extra) => {
      const { key, frame } = legs
      const current = { keyPeriod: key.periodSeq, framePeriod: frame.periodSeq }
      return mayExtend({ ...hold, ...current }, legs, extra)
    }),
  },

  // Rates.
  {
    name: 'a minute has 60 buckets',
    mutation: replacing(
      'rules/rates.ts',
      'unpackWindow',
      (unpackWindow) => (packed, now) => unpackWindow(packed, now + 1000),
    ),
  },
  {
    name: 'a minute admits twice its limit',
    mutation: replacing(
      'rules/rates.ts',
      'rateExceeded',
      (rateExceeded) => (rates, window, ask) =>
        rateExceeded({ ...rates, rpm: rates.rpm && 2 * rates.rpm }, window, ask),
    ),
  },
  {
    name: 'admissions are not counted',
    mutation: replacing('rules/rates.ts', 'countAdmission', () => () => {}),
  },

  // What a decision is made from, and what is written of it.
  reading('a retried ask is granted again', (snapshot, asked) => ({
    ...snapshot,
    holds: snapshot.holds.filter(({ id }) => !asked.has(id)),
  })),
  reading('a second settlement counts', withUsage('settled', 'orphaned')),
  reading('a late settlement is lost', withUsage('orphaned', 'settled')),
  {
    name: 'settled holds stay open',
    mutation: replacing('rules/decide.ts', 'decide', (decide) => (batch, snapshot) => {
      const decision = decide(batch, snapshot)
      return { ...decision, writes: { ...decision.writes, holdsDeleted: [] } }
    }),
  },
  {
    name: 'a trim is forgotten',
    mutation: replacing('rules/decide.ts', 'decide', (decide) => (batch, snapshot) => {
      const decision = decide(batch, snapshot)
      return { ...decision, writes: { ...decision.writes, holdsChanged: [] } }
    }),
  },
  {
    name: 'a crash releases its holds uncharged',
    mutation: replacing('rules/rows.ts', 'orphanedRow', (orphanedRow) => (hold, settledAt) => {
      return { ...orphanedRow(hold, settledAt), costNanodollars: 0n }
    }),
  },

  // How balances move.
  ending('an overrun is clipped', (movement) => {
    const freed = -movement.held
    return { ...movement, spent: movement.spent > freed ? freed : movement.spent }
  }),
  ending('an overrun is not counted', (movement) => ({ ...movement, overrun: 0n })),
  ending('requests in flight are not counted down', (movement) => ({ ...movement, inFlight: 0 })),
  working('a late settlement lands in the running period', (Original) => {
    return class extends Original {
      override move(place: Place, movement: Movement): void {
        const { key, frame } = legsOf(this, place)
        const current = { keyPeriod: key.periodSeq, framePeriod: frame.periodSeq }
        super.move({ ...place, ...current }, movement)
      }
    }
  }),
  working('a late settlement counts in the running period of the frame', (Original) => {
    return class extends Original {
      override move(place: Place, movement: Movement): void {
        const { key } = legsOf(this, place)
        super.move(place, movement)
        if (place.framePeriod < key.framePeriodSeq) key.frameSpent += movement.spent
      }
    }
  }),
  working('what a key spent in the last period of the frame counts in the next', (Original) => {
    return class extends Original {
      override move(place: Place, movement: Movement): void {
        const { key } = legsOf(this, place)
        const { framePeriodSeq, frameSpent } = key
        super.move(place, movement)
        if (key.framePeriodSeq > framePeriodSeq) key.frameSpent += frameSpent
      }
    }
  }),
  working('a late settlement is charged on top', (Original) => {
    return class extends Original {
      override correctUsage(before: UsageRow, after: UsageRow): void {
        super.correctUsage(before, after)
        this.move(after, { held: 0n, spent: before.costNanodollars, overrun: 0n, inFlight: 0 })
      }
    }
  }),
  working('rollups miss corrections', (Original) => {
    return class extends Original {
      override correctUsage(before: UsageRow, after: UsageRow): void {
        super.correctUsage({ ...before, costNanodollars: 0n }, after)
      }
    }
  }),

  // How periods begin and end.
  opening('a reset forgets the old period', (openPeriod) => (account, now) => {
    openPeriod(account, now)
    return undefined
  }),
  opening('a new period keeps the old holds', (openPeriod) => (account, now) => {
    const { held } = account
    const closed = openPeriod(account, now)
    account.held = held
    return closed
  }),
  opening('a top-up lasts for ever', (openPeriod) => (account, now) => {
    const { topUp } = account
    const closed = openPeriod(account, now)
    account.topUp = topUp
    return closed
  }),
  opening('a clock that is set back ends the period', (openPeriod) => (account, now) => {
    const isBefore = now < account.periodStartsAt
    return openPeriod(account, isBefore ? (account.periodEndsAt ?? now) : now)
  }),

  // Which nodes are dead.
  {
    name: 'an outage of the database makes nodes dead',
    mutation: replacing('nodes/failure-detector.ts', 'FailureDetector', withoutGaps),
  },
  {
    name: 'a node is dead after one second of silence',
    mutation: replacing('nodes/failure-detector.ts', 'FailureDetector', (Original) => {
      return class extends withoutGaps(Original) {
        constructor() {
          super(1000)
        }
      }
    }),
  },
]

type Judge = typeof judge
type Verdict = ReturnType<Judge>

function judging(name: string, replace: (judge: Judge) => Judge): Mutant {
  return { name, mutation: replacing('rules/judge.ts', 'judge', replace) }
}

/** Judges as if the key and the frame were as these functions make them. */
function judgingAccounts(
  name: string,
  key: (account: Account) => Account,
  frame: (account: Account) => Account,
): Mutant {
  return judging(
    name,
    (judge) => (ask, legs, now) =>
      judge(ask, { key: key(legs.key), frame: frame(legs.frame) }, now),
  )
}

function asItIs(account: Account): Account {
  return account
}

function unlimited(account: Account): Account {
  return { ...account, limit: null }
}

function withLessLimit(account: Account): Account {
  return { ...account, limit: account.limit === null ? null : account.limit - 1n }
}

function withoutHolds(account: Account): Account {
  return { ...account, held: 0n }
}

function withMoreConcurrency(account: Account): Account {
  const { concurrency } = account
  return { ...account, concurrency: concurrency === null ? null : concurrency + 1 }
}

/** The same verdict, with a hold for what its outputs cost. */
function heldInFull(ask: CheckedAsk, verdict: Verdict): Verdict {
  if (!verdict.reserved) return verdict
  const { outputTokens, capped, grants = [{ outputTokens, capped }] } = verdict
  const costs = grants.map((grant, index) =>
    typeof grant === 'string' ? 0n : costOf(ask, index, grant.outputTokens),
  )
  return {
    ...verdict,
    amountNanodollars: costs.reduce((one, other) => (one > other ? one : other)),
  }
}

function costOf({ candidates }: CheckedAsk, candidate: number, outputTokens: number): bigint {
  const worst = candidates[candidate]
  return worst === undefined ? 0n : costAtMost(worst, outputTokens)
}

/** Decides on another snapshot than the true one; `asked` = the holds that the batch asks for. */
function reading(
  name: string,
  change: (snapshot: Snapshot, asked: ReadonlySet<number>) => Snapshot,
): Mutant {
  const mutation = replacing('rules/decide.ts', 'decide', (decide) => (batch, snapshot) => {
    const asked = batch.items.flatMap((item) => (item.kind === 'reserve' ? [item.holdId] : []))
    return decide(batch, change(snapshot, new Set(asked)))
  })
  return { name, mutation }
}

function withUsage(state: UsageRow['state'], taken: UsageRow['state']) {
  return (snapshot: Snapshot): Snapshot => ({
    ...snapshot,
    usage: snapshot.usage.map((row) => (row.state === state ? { ...row, state: taken } : row)),
  })
}

type Place = Parameters<WorkingSet['move']>[0]
type Movement = Parameters<WorkingSet['move']>[1]

function working(
  name: string,
  replace: (original: typeof WorkingSet) => typeof WorkingSet,
): Mutant {
  return { name, mutation: replacing('rules/working-set.ts', 'WorkingSet', replace) }
}

/** Changes how balances move when a hold ends. */
function ending(name: string, change: (movement: Movement) => Movement): Mutant {
  return working(name, (Original) => {
    return class extends Original {
      override move(place: Place, movement: Movement): void {
        super.move(place, movement.inFlight === -1 ? change(movement) : movement)
      }
    }
  })
}

function legsOf(work: WorkingSet, { keyId }: Place): Legs {
  const legs = work.legs(keyId)
  if (legs === undefined) throw new Error(`no account ${keyId}`)
  return legs
}

type OpenPeriod = typeof openPeriod

function opening(name: string, replace: (openPeriod: OpenPeriod) => OpenPeriod): Mutant {
  return { name, mutation: replacing('rules/account.ts', 'openPeriod', replace) }
}

type Detector = typeof FailureDetector

const STEP_MS = 400

/** Believes that it has looked all the time, and that nobody beat in between. */
function withoutGaps(Original: Detector): Detector {
  return class extends Original {
    #lookedAt = Infinity
    #beats: readonly Beat[] = []

    override look(monotonicMs: number, beats: readonly Beat[]): readonly number[] {
      const dead: number[] = []
      for (let at = this.#lookedAt + STEP_MS; at < monotonicMs; at += STEP_MS)
        dead.push(...super.look(at, this.#beats))
      this.#lookedAt = monotonicMs
      this.#beats = beats
      return [...dead, ...super.look(monotonicMs, beats)]
    }
  }
}
