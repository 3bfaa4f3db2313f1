// Mistakes that would break a promise of the ledger, each as small as a slip of the pen: one exported function or class,
// replaced by one that is wrong. The simulation must find every one of them; a mistake it cannot find means a promise
// that no test guards.
import { costAtMost, type judge, type Legs, type OpenLeg } from '../../src/ledger/rules/judge.ts'
import type { Beat, FailureDetector } from '../../src/ledger/nodes/failure-detector.ts'
import type { Accounts, Leg, openPeriod } from '../../src/ledger/rules/account.ts'
import type { CheckedAsk, Item, Snapshot } from '../../src/ledger/rules/batch.ts'
import type { Account, UsageRow } from '../../src/ledger/rules/rows.ts'
import type { WorkingSet } from '../../src/ledger/rules/working-set.ts'
import type { Budget } from '../../src/store/accounts/budgets.ts'
import type { Faults } from './memory-database.ts'
import { replacing, type Mutation } from './rules.ts'

/** `onSqlite` = to be found where a node decides in memory. */
export type Mutant = { readonly name: string; readonly onSqlite?: boolean } & (
  | { readonly mutation: Mutation }
  | { readonly faults: Faults }
)

export const MUTANTS: readonly Mutant[] = [
  { name: 'a fenced node may commit', faults: { noFence: true } },
  { name: 'periods follow the clock of the node', faults: { clockOfNode: true } },
  { name: 'what a node knows is not compared with the books', faults: { noVersions: true } },
  { name: 'the time that a node reckons is not compared', faults: { anyTime: true } },

  // A node that decides in memory, and what others make of its journal.
  withJournal('an answer is given before its record is written', { answerFirst: true }),
  withJournal('a record counts whoever has committed meanwhile', { noCount: true }),
  withJournal('an account is read that a record has moved meanwhile', { readBehind: true }),
  withJournal('a torn record is brought in', { readTorn: true }),
  withJournal('a record that was brought in is brought in again', { noPosition: true }),
  {
    ...working('a period that began in memory does not begin in the books', (Original) => {
      return class extends Original {
        override begin(): void {}
      }
    }),
    onSqlite: true,
  },
  {
    ...working('what was granted in memory was granted under the limits of now', (Original) => {
      return class extends Original {
        override grant(...[periods, amount]: Parameters<WorkingSet['grant']>): void {
          super.grant(periods, amount)
        }
      }
    }),
    onSqlite: true,
  },

  // What is judged differs from what is true.
  judgingBudgets('nothing is refused', unlimited),
  judgingBudgets('the last nano-dollar is refused', withLessLimit),
  judgingBudgets('holds do not count', withoutHolds),
  judgingBudgets(
    'only the key is checked',
    unlimitedUnless(({ scope }) => scope === 'key'),
  ),
  judgingBudgets(
    'the key is not checked',
    unlimitedUnless(({ scope }) => scope !== 'key'),
  ),
  judgingBudgets(
    'the group is not checked',
    unlimitedUnless(({ scope }) => scope !== 'group'),
  ),
  judgingBudgets(
    'the frame is not checked',
    unlimitedUnless(({ scope }) => scope !== 'frame'),
  ),
  judgingBudgets(
    'a cap is not checked',
    unlimitedUnless(({ scope }) => scope !== 'model'),
  ),
  judgingBudgets('windows are not checked', unlimitedUnless(isMain)),
  judging('one request too many of a key runs at once', (judge) => (ask, legs, now) => {
    return judge(ask, { ...legs, key: withMoreConcurrency(legs.key) }, now)
  }),
  judging('one request too many of a group runs at once', (judge) => (ask, legs, now) => {
    const { group } = legs
    return judge(ask, { ...legs, group: group && withMoreConcurrency(group) }, now)
  }),
  judging('the cost of one request is not bounded', (judge) => (ask, legs, now) => {
    return judge(ask, unbounded(legs), now)
  }),
  judging('the version of the group is not checked', (judge) => (ask, legs, now) => {
    const { group } = legs
    return judge({ ...ask, groupVersion: group?.allowVersion ?? 0 }, legs, now)
  }),
  judging('the group is taken as the request knows it', (judge) => (ask, legs, now) => {
    const groupVersion = legs.group?.allowVersion ?? 0
    return judge({ ...ask, groupId: legs.key.groupId, groupVersion }, legs, now)
  }),
  judging('an archived group goes on', (judge) => (ask, legs, now) => {
    return judge(ask, { ...legs, group: legs.group && { ...legs.group, status: 'active' } }, now)
  }),
  judging('a refusal names the budget that resets first', (judge) => (ask, legs, now) => {
    const verdict = judge(ask, legs, now)
    if (verdict.reserved || verdict.reason !== 'budget') return verdict
    const { shortage } = verdict
    const first = shortage.also.at(-1)
    if (first === undefined) return verdict
    const also = [shortage, ...shortage.also.slice(0, -1)]
    return { ...verdict, shortage: { ...shortage, ...first, also } }
  }),
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
    for (const { budget } of legs.budgets) if (!verdict.reserved) budget.held += 1n
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
      (mayExtend) => (hold, legs, extra) => mayExtend(hold, withBudgets(legs, unlimited), extra),
    ),
  },
  {
    name: 'an extension makes a request dearer than one may be',
    mutation: replacing(
      'rules/judge.ts',
      'mayExtend',
      (mayExtend) => (hold, legs, extra) => mayExtend(hold, unbounded(legs), extra),
    ),
  },
  working('an extension grows a closed period', (Original) => {
    return class extends Original {
      override legs(periods: Place): Legs | undefined {
        return super.legs({ ...periods, ...runningOn(this, periods) })
      }
    }
  }),

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
  working('admissions are not counted on the group', (Original) => {
    return class extends Original {
      override movedBy(entry: Parameters<WorkingSet['movedBy']>[0]) {
        return super.movedBy(entry).filter(({ id, rpm }) => id === entry.keyId || rpm === null)
      }
    }
  }),

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
    mutation: replacing('rules/decide.ts', 'decide', (decide) => (batch, snapshot) => {
      const items = batch.items.map((item): Item =>
        item.kind === 'orphan' ? { ...item, kind: 'void', reason: 'dead' } : item,
      )
      return decide({ ...batch, items }, snapshot)
    }),
  },

  // Which budgets an entry belongs to, and in which order accounts are locked.
  legging('a leg of the group is forgotten', ({ scope }) => scope !== 'group'),
  legging('a cap is forgotten', ({ scope }) => scope !== 'model'),
  legging('a second window is forgotten', ({ budget }) => budget !== 'window'),
  moving('a leg of the group is forgotten when a hold ends', (place, { inFlight }) =>
    inFlight === -1 ? { ...place, groupPeriod: null, groupWindow: null } : place,
  ),
  moving('a cap is forgotten when a hold ends', (place, { inFlight }) =>
    inFlight === -1 ? { ...place, modelCap: null } : place,
  ),
  moving('a moved key settles in its new group', (place, _, work) => {
    const group = work.accounts(place.keyId)?.group
    if (!group) return place
    return { ...place, groupId: group.id, groupPeriod: group.periodSeq, groupWindow: null }
  }),
  {
    name: 'a cap is charged twice',
    mutation: replacing(
      'rules/account.ts',
      'legsOf',
      (legsOf) => (entry) =>
        legsOf(entry).flatMap((leg) => (leg.scope === 'model' ? [leg, leg] : [leg])),
    ),
  },
  {
    name: 'accounts are locked in the order of their ids',
    mutation: replacing(
      'rules/decide.ts',
      'accountsOf',
      (accountsOf) => (items) => accountsOf(items).toSorted(),
    ),
  },
  {
    name: 'accounts are locked in the order in which they are asked for',
    mutation: replacing('rules/decide.ts', 'accountsOf', (accountsOf) => (items) => {
      return [...new Set(items.flatMap((item) => accountsOf([item]).slice(0, -1))), 'frame']
    }),
  },

  // How balances move.
  ending('an overrun is clipped', (movement) => {
    const freed = -movement.held
    return { ...movement, spent: movement.spent > freed ? freed : movement.spent }
  }),
  ending('an overrun is not counted', (movement) => ({ ...movement, overrun: 0n })),
  ending('requests in flight are not counted down', (movement) => ({ ...movement, inFlight: 0 })),
  moving('a late settlement lands in the running period', (place, _, work) => {
    return { ...place, ...runningOn(work, place) }
  }),
  working('a late settlement counts in the running period of the frame', (Original) => {
    return class extends Original {
      override move(place: Place, movement: Movement): void {
        const { key } = accountsOf(this, place)
        super.move(place, movement)
        if (place.framePeriod < key.framePeriodSeq) key.frameSpent += movement.spent
      }
    }
  }),
  working('what a key spent in the last period of the frame counts in the next', (Original) => {
    return class extends Original {
      override move(place: Place, movement: Movement): void {
        const { key } = accountsOf(this, place)
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

  {
    name: 'a day that is summed up misses what comes late',
    mutation: replacing('rules/account.ts', 'isSummedUp', () => () => false),
  },
  {
    name: 'a day is summed up for all keys at once',
    mutation: replacing(
      'rules/account.ts',
      'isSummedUp',
      (isSummedUp) => (frame, hour) => isSummedUp({ ...frame, summedKey: 'key_~' }, hour),
    ),
  },

  // How periods begin and end.
  opening('a reset forgets the old period', (openPeriod) => (account, budget, now) => {
    openPeriod(account, budget, now)
    return undefined
  }),
  opening('a second window does not roll', (openPeriod) => (account, budget, now) => {
    return budget === account ? openPeriod(account, budget, now) : undefined
  }),
  opening('a new period keeps the old holds', (openPeriod) => (account, budget, now) => {
    const { held } = budget
    const closed = openPeriod(account, budget, now)
    budget.held = held
    return closed
  }),
  opening('a top-up lasts for ever', (openPeriod) => (account, budget, now) => {
    const { topUp } = budget
    const closed = openPeriod(account, budget, now)
    budget.topUp = topUp
    return closed
  }),
  opening('a clock that is set back ends the period', (openPeriod) => (account, budget, now) => {
    const isBefore = now < budget.periodStartsAt
    return openPeriod(account, budget, isBefore ? (budget.periodEndsAt ?? now) : now)
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

function withJournal(name: string, faults: Faults): Mutant {
  return { name, faults, onSqlite: true }
}

type Judge = typeof judge
type Verdict = ReturnType<Judge>

function judging(name: string, replace: (judge: Judge) => Judge): Mutant {
  return { name, mutation: replacing('rules/judge.ts', 'judge', replace) }
}

/** Judges as if the budgets were as this function makes them. */
function judgingBudgets(name: string, change: (budget: Budget, leg: OpenLeg) => Budget): Mutant {
  return judging(name, (judge) => (ask, legs, now) => judge(ask, withBudgets(legs, change), now))
}

function withBudgets(legs: Legs, change: (budget: Budget, leg: OpenLeg) => Budget): Legs {
  const budgets = legs.budgets.map((leg) => ({ ...leg, budget: change(leg.budget, leg) }))
  return { ...legs, budgets }
}

function unlimited(budget: Budget): Budget {
  return { ...budget, limit: null }
}

function unlimitedUnless(isChecked: (leg: OpenLeg) => boolean) {
  return (budget: Budget, leg: OpenLeg) => (isChecked(leg) ? budget : unlimited(budget))
}

function isMain({ budget }: OpenLeg): boolean {
  return !('name' in budget)
}

function withLessLimit(budget: Budget): Budget {
  return { ...budget, limit: budget.limit === null ? null : budget.limit - 1n }
}

function withoutHolds(budget: Budget): Budget {
  return { ...budget, held: 0n }
}

/** One request may cost anything. */
function unbounded({ key, group, ...legs }: Legs): Legs {
  return {
    ...legs,
    key: { ...key, requestCostMax: null },
    group: group && { ...group, requestCostMax: null },
  }
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

/** Changes where balances move. */
function moving(
  name: string,
  change: (place: Place, movement: Movement, work: WorkingSet) => Place,
): Mutant {
  return working(name, (Original) => {
    return class extends Original {
      override move(place: Place, movement: Movement): void {
        super.move(change(place, movement, this), movement)
      }
    }
  })
}

/** Leaves out some of the legs. */
function legging(name: string, isKept: (leg: Leg) => boolean): Mutant {
  const mutation = replacing(
    'rules/account.ts',
    'legsOf',
    (legsOf) => (entry) => legsOf(entry).filter(isKept),
  )
  return { name, mutation }
}

function accountsOf(work: WorkingSet, { keyId }: Pick<Place, 'keyId'>): Accounts {
  const accounts = work.accounts(keyId)
  if (accounts === undefined) throw new Error(`no account ${keyId}`)
  return accounts
}

/** The numbers of the running periods of key and frame. */
function runningOn(work: WorkingSet, place: Place): Pick<Place, 'keyPeriod' | 'framePeriod'> {
  const { key, frame } = accountsOf(work, place)
  return { keyPeriod: key.periodSeq, framePeriod: frame.periodSeq }
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
