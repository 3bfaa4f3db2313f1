// Mistakes that would break a promise of the ledger, each as small as a slip of the pen. The simulation must find every
// one of them; a mistake it cannot find means a promise that no test guards.
import type { Faults } from './memory-database.ts'
import type { Mutation } from './rules.ts'

export type Mutant = { readonly name: string } & (
  | { readonly mutation: Mutation }
  | { readonly faults: Faults }
)

export const MUTANTS: readonly Mutant[] = [
  { name: 'a fenced node may commit', faults: { noFence: true } },
  { name: 'periods follow the clock of the node', faults: { clockOfNode: true } },
  mutant('nothing is refused', 'rules/judge.ts', 'if (now >= wanted ||', 'if (now > -2 ||'),
  mutant(
    'the last nano-dollar is refused',
    'rules/judge.ts',
    'if (now >= wanted ||',
    'if (now > wanted ||',
  ),
  mutant(
    'only the key is checked',
    'rules/judge.ts',
    'tighterLimit(roomOf(legs.key), roomOf(legs.frame))',
    'roomOf(legs.key)',
  ),
  mutant(
    'only the frame is checked',
    'rules/judge.ts',
    'tighterLimit(roomOf(legs.key), roomOf(legs.frame))',
    'roomOf(legs.frame)',
  ),
  mutant(
    'holds do not count',
    'rules/judge.ts',
    "holds === 'beside holds' ? account.held : 0n",
    '0n',
  ),
  mutant(
    'room is rounded up',
    'rules/judge.ts',
    'room * PICO_PER_NANO - worst.fixedPicodollars',
    'room * PICO_PER_NANO + 999n - worst.fixedPicodollars',
  ),
  mutant(
    'an output is capped to more than fits',
    'rules/judge.ts',
    '{ outputTokens: now, capped: true }',
    '{ outputTokens: now + 1, capped: true }',
  ),
  mutant(
    'the first target is held for, not the dearest',
    'rules/judge.ts',
    'trials.filter(isKept).map(costOf).reduce(dearer)',
    'costOf(first)',
  ),
  mutant(
    'a target that does not fit is kept',
    'rules/judge.ts',
    "return trial.fit === 'budget' || trial.fit === 'held' ? trial.fit : outputOf(trial)",
    "return trial.fit === 'budget' ? trial.fit : outputOf(trial)",
  ),
  mutant(
    'a target after the one that holds keep out is taken at once',
    'rules/judge.ts',
    'ask.isLastTry === true ? isKept',
    'ask.isLastTry !== undefined ? isKept',
  ),
  mutant(
    'the last try still waits',
    'rules/judge.ts',
    'ask.isLastTry === true ? isKept',
    'ask.isLastTry === undefined ? isKept',
  ),
  mutant(
    'one target that does not fit refuses the request',
    'rules/judge.ts',
    'const first = trials.find(isReached)',
    'const first = trials.slice(0, 1).find(isReached)',
  ),
  mutant(
    'a refusal names the dearest target',
    'rules/judge.ts',
    'return isLess ? other : one',
    'return isLess ? one : other',
  ),
  mutant(
    'a retried ask is told of targets that its hold does not pay for',
    'rules/judge.ts',
    'if (paid >= most) return',
    'if (paid >= -1) return',
  ),
  mutant(
    'one request too many runs at once',
    'rules/judge.ts',
    'key.inFlight >= key.concurrency',
    'key.inFlight > key.concurrency',
  ),
  mutant(
    'a minute has 60 buckets',
    'rules/rates.ts',
    'const WINDOW_SECONDS = 61',
    'const WINDOW_SECONDS = 60',
  ),
  mutant(
    'a minute admits twice its limit',
    'rules/rates.ts',
    'window.requests + 1 > rates.rpm',
    'window.requests + 1 > 2 * rates.rpm',
  ),
  mutant(
    'admissions are not counted',
    'rules/decide.ts',
    'if (hasRates(legs.key)) admit(',
    'if (!hasRates(legs.key)) admit(',
  ),
  mutant(
    'a refusal leaves an amount held',
    'rules/decide.ts',
    'if (!answer.reserved || legs === undefined) return answer',
    'if (!answer.reserved && legs !== undefined) work.move({ keyId: ask.keyId, keyPeriod: legs.key.periodSeq, framePeriod: legs.frame.periodSeq }, { held: 1n, spent: 0n, overrun: 0n, inFlight: 0 })\n  if (!answer.reserved || legs === undefined) return answer',
  ),
  mutant(
    'a retried ask is granted again',
    'rules/decide.ts',
    'knownGrant(work, item) ?? reserve(work, item)',
    'reserve(work, item)',
  ),
  mutant('settled holds stay open', 'rules/working-set.ts', 'this.#holdsDeleted.push(hold.id)', ''),
  mutant(
    'a second settlement counts',
    'rules/decide.ts',
    "if (row.state === 'orphaned') return row",
    "if (row.state === 'orphaned' || row.state === 'settled') return row",
  ),
  mutant(
    'a late settlement is charged on top',
    'rules/decide.ts',
    'spent: after.costNanodollars - before.costNanodollars,',
    'spent: after.costNanodollars,',
  ),
  mutant(
    'a late settlement is lost',
    'rules/decide.ts',
    "if (row.state === 'orphaned') return row",
    "if (row.state === 'adjusted') return row",
  ),
  mutant(
    'a crash releases its holds uncharged',
    'rules/rows.ts',
    'costNanodollars: hold.heldNanodollars,',
    'costNanodollars: 0n,',
  ),
  mutant(
    'an overrun is clipped',
    'rules/decide.ts',
    'spent: cost,\n',
    'spent: cost > hold.heldNanodollars ? hold.heldNanodollars : cost,\n',
  ),
  mutant(
    'an overrun is not counted',
    'rules/decide.ts',
    'overrun: overrunOf(cost, hold.heldNanodollars),\n    inFlight: -1,',
    'overrun: 0n,\n    inFlight: -1,',
  ),
  mutant(
    'a late settlement lands in the running period',
    'rules/working-set.ts',
    'if (period === account.periodSeq)',
    'if (period <= account.periodSeq)',
  ),
  mutant(
    'a late settlement counts in the running period of the frame',
    'rules/working-set.ts',
    'if (framePeriod === key.framePeriodSeq)',
    'if (framePeriod <= key.framePeriodSeq)',
  ),
  mutant(
    'what a key spent in the last period of the frame counts in the next',
    'rules/working-set.ts',
    'key.frameSpent = 0n\n',
    '',
  ),
  mutant(
    'a reset forgets the old period',
    'rules/account.ts',
    'return closed.seq === 0 ? undefined : closed',
    'return undefined',
  ),
  mutant('a new period keeps the old holds', 'rules/account.ts', '  account.held = 0n\n', ''),
  mutant(
    'a period can be reopened',
    'rules/account.ts',
    'now < account.periodEndsAt) return undefined',
    'now < account.periodEndsAt && now >= account.periodStartsAt) return undefined',
  ),
  mutant('a top-up lasts for ever', 'rules/account.ts', '  account.topUp = 0n\n', ''),
  mutant(
    'a trim is forgotten',
    'rules/working-set.ts',
    'this.#holdsChanged.set(hold.id, heldNanodollars)',
    '',
  ),
  mutant(
    'an extension ignores the limit',
    'rules/decide.ts',
    'account.spent + account.held + extra <= limit',
    'limit > 0n',
  ),
  mutant(
    'an extension grows a closed period',
    'rules/decide.ts',
    'if (period !== account.periodSeq) return false',
    '',
  ),
  mutant(
    'requests in flight are not counted down',
    'rules/decide.ts',
    'inFlight: -1,',
    'inFlight: 0,',
  ),
  mutant(
    'an outage of the database makes nodes dead',
    'nodes/failure-detector.ts',
    'this.#seen.clear()',
    '',
  ),
  mutant(
    'a node is dead after one second of silence',
    'nodes/failure-detector.ts',
    'monotonicMs - seen.since >= this.#deadAfterMs',
    'monotonicMs - seen.since >= 1000',
  ),
  mutant('rollups miss corrections', 'rules/working-set.ts', 'this.#roll(before, -1)', ''),
]

function mutant(name: string, file: string, ...[from, to]: readonly [string, string]): Mutant {
  return { name, mutation: { file, from, to } }
}
