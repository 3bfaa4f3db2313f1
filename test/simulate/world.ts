// One simulated run: nodes that ask, settle, crash, pause, lose replies and settle late, over one database, beside a
// provider that knows the truth. Everything happens in one thread, in an order that the seed alone decides.
import assert from 'node:assert/strict'
import type { WorstCase } from '../../src/catalog/worst-case.ts'
import { NO_USAGE } from '../../src/core/events.ts'
import { DAY_MS, HOUR_MS } from '../../src/core/units.ts'
import { HOLDS_PER_NODE } from '../../src/ledger/nodes/membership.ts'
import type { Batch, BatchResult, Item, Outcome, CheckedAsk } from '../../src/ledger/rules/batch.ts'
import type { Charge } from '../../src/ledger/rules/rows.ts'
import { unpackBudgets, type BudgetSetting } from '../../src/store/accounts/budgets.ts'
import { FRAME_ID } from '../../src/store/database/tables.ts'
import { MemoryDatabase, type Decided, type Faults } from './memory-database.ts'
import { Oracle } from './oracle.ts'
import { Random } from './random.ts'
import type { Rules } from './rules.ts'

const NODES = 3
const KEYS = ['key_a', 'key_b', 'key_c', 'key_d']
const GROUPS = ['grp_x', 'grp_y']
const MODELS = ['m', 'n']
const DEAD_AFTER_MS = 4000
const BATCH_MAX = 8
const SETTLE_DOWN_ROUNDS = 60

type Queued = { readonly item: Item; isRetry: boolean }

/** What a process remembers; all of it is lost when it crashes, except the spool. */
type Node = {
  id: number
  holdCount: number
  state: 'up' | 'paused' | 'down'
  /** Was paused or down since it last beat: another node may take it for dead. */
  wasAway: boolean
  beatsMissed: number
  queue: Queued[]
  sent: Sent | undefined
  open: Map<number, { readonly ask: CheckedAsk; readonly amount: bigint; isEnding: boolean }>
  readonly spool: Map<number, Charge>
  detector: InstanceType<Rules['FailureDetector']>
  readonly clockSkewMs: number
  /** What its batches have left known; worthless behind another connection. */
  known: InstanceType<Rules['Known']>
}

/** unheard = the connection broke: the node cannot know whether the batch was committed. */
type Sent = {
  readonly batch: Batch
  readonly items: readonly Queued[]
  /** Set if it was decided before it was sent. */
  readonly decided: Decided | undefined
  reply?: BatchResult | 'unheard'
}

/** A batch of nobody: of a process that has died since, or of a command. */
type Ghost = Pick<Sent, 'batch' | 'decided'> & Pick<Node, 'clockSkewMs'>

export function simulate(
  seed: number,
  steps: number,
  code: { rules: Rules; faults?: Faults },
): void {
  const world = new World(seed, code.rules, code.faults ?? {})
  for (let step = 0; step < steps; step++) world.step()
  world.settleDown()
}

class World {
  readonly #random: Random
  readonly #rules: Rules
  readonly #books: MemoryDatabase
  readonly #oracle: Oracle
  readonly #nodes: Node[] = []
  /** Batches sent by processes that have died since. */
  #ghosts: Ghost[] = []
  /** As the nodes measure time: nobody can set it. */
  #elapsedMs = 0
  #monotonicMs = 0
  #outageSteps = 0
  #requests = 0

  constructor(seed: number, rules: Rules, faults: Faults) {
    this.#random = new Random(seed)
    this.#rules = rules
    this.#books = new MemoryDatabase(rules, faults)
    this.#oracle = new Oracle(this.#books)
    this.#books.openAccount('key_a', 3000n, { rpm: 5, timezone: 'Asia/Kolkata' })
    this.#books.openAccount('key_b', 8000n, { concurrency: 3, groupId: 'grp_x' })
    this.#books.openAccount('key_c', null, { groupId: 'grp_x' })
    this.#books.openAccount('key_d', null, { groupId: 'grp_y' })
    this.#books.openAccount('grp_x', 9000n, { rpm: 8 })
    this.#books.openAccount('grp_y', null, { concurrency: 4 })
    this.#books.openAccount(FRAME_ID, 12_000n)
    for (const id of this.#books.accounts.keys()) {
      if (this.#random.chance(0.5)) this.#changeBudget(id)
      if (this.#random.chance(0.5)) this.#changeBudget(id)
      if (this.#random.chance(0.2)) this.#changeRequestCost(id)
    }
    for (let count = 0; count < NODES; count++) this.#nodes.push(this.#newNode(count))
  }

  step(): void {
    if (this.#outageSteps > 0) this.#outageSteps -= 1
    this.#pass(this.#random.between(0, 400))
    const node = this.#random.pick(this.#nodes)
    if (node === undefined) return
    const action = this.#random.pick(ACTIONS)
    if (action !== undefined) this[action](node)
  }

  /** The faults end, every node finishes what is open, and the books are checked. */
  settleDown(): void {
    this.#outageSteps = 0
    for (const ghost of this.#ghosts.splice(0)) this.#haunt(ghost)
    for (let round = 0; round < SETTLE_DOWN_ROUNDS; round++) {
      for (const node of this.#nodes) {
        if (node.state === 'paused') node.state = 'up'
        if (node.state === 'down') this.restart(node)
        for (const holdId of [...node.open.keys()]) this.#end(node, holdId, 'settle')
        this.send(node)
        this.#commit(node, 'heard')
        this.deliver(node)
        this.sweep(node)
      }
      this.tick()
    }
    this.#oracle.checkEnd()
  }

  ask(node: Node): void {
    if (node.state !== 'up') return
    // More often the one with the most limits, so that they are reached.
    const keyId = this.#random.pick(['key_a', ...KEYS]) ?? ''
    const modelAsked = this.#random.pick(MODELS) ?? ''
    // Now and then exactly what is left, where an off-by-one error shows.
    const left = Number(this.#oracle.left(keyId, modelAsked) ?? 0n)
    const isExact = left > 0 && this.#random.chance(0.2)
    const outputTokens = isExact ? left : this.#random.between(0, 9) * 100
    const others = this.#random.chance(0.4) ? this.#random.between(1, 2) : 0
    const ask: CheckedAsk = {
      requestId: `req_${++this.#requests}`,
      keyId,
      ...this.#groupOf(keyId),
      allowVersion: 1,
      endpoint: 'chat',
      modelAsked,
      candidates: [
        {
          // Round amounts reach limits exactly, and a pico-dollar more must not fit.
          fixedPicodollars: isExact
            ? 0n
            : BigInt(this.#random.between(0, 2) * 100_000 + this.#random.between(0, 1)),
          outputTokenPicodollars: 1000n,
          outputTokens,
          outputTokensFrom: 'client',
          outputTokensMinimum: 100,
        },
        ...Array.from({ length: others }, () => this.#otherTarget(outputTokens)),
      ],
      isLastTry: this.#random.chance(0.3),
      whenTight: this.#random.chance(0.5) ? 'cap' : 'refuse',
      estimatedTokens: 10,
      recounted: true,
    }
    node.queue.push({
      item: { kind: 'reserve', holdId: this.#newHoldId(node), ask },
      isRetry: false,
    })
  }

  send(node: Node): void {
    if (node.state !== 'up' || node.sent !== undefined || node.queue.length === 0) return
    const items = node.queue.splice(0, this.#random.between(1, BATCH_MAX))
    const batch: Batch = {
      nodeId: node.id,
      items: items.map(({ item }) => item),
      prices: [],
      isRetry: items.some(({ isRetry }) => isRetry),
    }
    const decided = this.#books.decideOnKnown(batch, node.known, this.#elapsedMs)
    node.sent = { items, batch, decided }
  }

  commit(node: Node): void {
    const fate = this.#random.next()
    if (this.#outageSteps > 0 || fate < 0.08) this.#commit(node, 'lost before')
    else this.#commit(node, fate < 0.16 ? 'lost after' : 'heard')
  }

  deliver(node: Node): void {
    const { sent } = node
    if (node.state !== 'up' || sent?.reply === undefined) return
    node.sent = undefined
    if (sent.reply === 'unheard') this.#retry(node, sent.items)
    else if (!sent.reply.live) this.#rejoin(node, sent.items)
    else {
      for (const [index, { item }] of sent.items.entries()) {
        const outcome: Outcome | undefined = sent.reply.outcomes[index]
        assert.ok(outcome)
        this.#hear(node, item, outcome)
      }
    }
  }

  end(node: Node): void {
    const holdId = this.#random.pick([...node.open.keys()])
    if (node.state !== 'up' || holdId === undefined) return
    this.#end(
      node,
      holdId,
      this.#random.chance(0.1) ? 'twice' : this.#random.chance(0.15) ? 'spool' : 'settle',
    )
  }

  change(node: Node): void {
    const holdId = this.#random.pick([...node.open.keys()])
    const hold = holdId === undefined ? undefined : node.open.get(holdId)
    if (node.state !== 'up' || holdId === undefined || hold === undefined || hold.isEnding) return
    const { keyId, groupId } = hold.ask
    const on = { keyId, groupId, holdId }
    const item: Item = this.#random.chance(0.5)
      ? { kind: 'extend', ...on, extra: BigInt(this.#random.between(1, 9)) * 100n }
      : { kind: 'trim', ...on, amount: hold.amount / 2n }
    node.queue.push({ item, isRetry: false })
  }

  crash(node: Node): void {
    if (!this.#random.chance(0.3)) return
    // What was sent may still arrive, long after its sender has died.
    if (node.sent !== undefined && node.sent.reply === undefined) {
      this.#ghosts.push({ ...node.sent, clockSkewMs: node.clockSkewMs })
    }
    Object.assign(node, {
      state: 'down',
      wasAway: true,
      queue: [],
      sent: undefined,
      open: new Map(),
      known: new this.#rules.Known(),
    })
  }

  restart(node: Node): void {
    if (node.state !== 'down') return
    this.#join(node)
    node.state = 'up'
    for (const charge of node.spool.values()) this.#enqueueSettle(node, charge)
  }

  pause(node: Node): void {
    if (node.state === 'up') Object.assign(node, { state: 'paused', wasAway: true })
    else if (node.state === 'paused') node.state = 'up'
  }

  ghost(): void {
    const ghost = this.#ghosts.shift()
    if (ghost !== undefined && this.#random.chance(0.7)) this.#haunt(ghost)
  }

  /** A second passes: every node that is up beats, then looks at the others. */
  tick(): void {
    this.#monotonicMs += 1000
    this.#pass(1000)
    if (this.#outageSteps > 0) return
    for (const node of this.#nodes) {
      if (node.state !== 'up') continue
      // A busy node may be late twice, which is no reason to take it for dead.
      node.beatsMissed = node.beatsMissed < 2 && this.#random.chance(0.3) ? node.beatsMissed + 1 : 0
      if (node.beatsMissed > 0) continue
      node.wasAway = false
      const beats = this.#books.beat(node.id)
      for (const dead of node.detector.look(this.#monotonicMs, beats)) this.#fence(dead)
      this.#chargeOrphans(node)
    }
  }

  outage(): void {
    if (this.#random.chance(0.2)) this.#outageSteps = this.#random.between(1, 200)
  }

  /** Hours pass, a day ends; now and then somebody sets the clock back, by hours or by weeks. */
  clock(): void {
    if (this.#random.chance(0.3)) this.#books.now += this.#random.between(0, 5) * HOUR_MS
    if (this.#random.chance(0.05)) {
      this.#oracle.forgetMinutes(this.#books.now)
      this.#books.now -= this.#random.between(
        1,
        this.#random.chance(0.2) ? 30 * DAY_MS : 2 * HOUR_MS,
      )
    }
  }

  administer(): void {
    const id = this.#random.pick([...KEYS, ...GROUPS, FRAME_ID]) ?? ''
    const account = this.#books.account(id)
    const what = this.#random.next()
    if (what < 0.3 && account.limit !== null) {
      const limit = BigInt(this.#random.between(0, id === FRAME_ID ? 200 : 90)) * 100n
      this.#books.change(id, { limit })
    } else if (what < 0.4 && id !== FRAME_ID) {
      const rpm = this.#random.chance(0.5) ? null : this.#random.between(1, 6)
      const concurrency = this.#random.chance(0.5) ? null : this.#random.between(1, 4)
      this.#books.change(id, { rpm, concurrency, rateWindow: '' })
      this.#oracle.forgetMinutes(this.#books.now)
    } else if (what < 0.5) {
      const budget = this.#anyBudget(id)
      this.#command({ kind: 'top-up', keyId: id, budget, amount: 500n, note: NOTE })
    } else if (what < 0.6) {
      this.#command({ kind: 'reset', keyId: id, budget: this.#anyBudget(id), note: NOTE })
    } else if (what < 0.8) this.#changeBudget(id)
    else if (what < 0.85) this.#changeRequestCost(id)
    else if (GROUPS.includes(id)) this.#changeGroup(id)
    else if (KEYS.includes(id)) {
      this.#books.change(id, { groupId: this.#random.pick([...GROUPS, null]) ?? null })
    }
  }

  /** A node sums up days and looks for its own forgotten holds, as the maintenance does every half minute. */
  sweep(node: Node): void {
    this.#books.sumUpKeyDays()
    if (node.state !== 'up' || node.sent !== undefined || node.queue.length > 0) return
    for (const [holdId, { keyId, groupId }] of this.#books.holds) {
      if (nodeOf(holdId) !== node.id || node.open.has(holdId)) continue
      const on = { keyId, groupId, holdId }
      node.queue.push({ item: { kind: 'void', ...on, reason: 'forgotten' }, isRetry: true })
    }
  }

  /** What a node knows of the key's group: now and then something that is no longer true. */
  #groupOf(keyId: string): Pick<CheckedAsk, 'groupId' | 'groupVersion'> {
    const { groupId: known } = this.#books.account(keyId)
    const groupId = this.#random.chance(0.02)
      ? (this.#random.pick([...GROUPS, null]) ?? null)
      : known
    if (groupId === null) return { groupId, groupVersion: 0 }
    const { allowVersion } = this.#books.account(groupId)
    return { groupId, groupVersion: allowVersion - (this.#random.chance(0.02) ? 1 : 0) }
  }

  /** Its models, or whether it is archived: its version goes up, and the next request is checked anew. */
  #changeGroup(id: string): void {
    const { status, allowVersion } = this.#books.account(id)
    const isArchived = status === 'active' && this.#random.chance(0.3)
    this.#books.change(id, {
      status: isArchived ? 'archived' : 'active',
      allowVersion: allowVersion + 1,
    })
  }

  /** Adds, changes or removes a second window, or on a key the cap for a model. */
  #changeBudget(id: string): void {
    const isCap = KEYS.includes(id) && this.#random.chance(0.5)
    const name = isCap ? (`model:${this.#random.pick(MODELS)}` as const) : 'window'
    const others = unpackBudgets(this.#books.account(id).budgets).flatMap(
      ({ name: other, period, limit }) =>
        other === name || limit === null ? [] : { name: other, period, limit },
    )
    const limit = BigInt(this.#random.between(0, id === FRAME_ID ? 200 : 90)) * 100n
    const period = this.#random.pick(['week', 'never', 'day'] as const) ?? 'week'
    const wanted: readonly BudgetSetting[] = this.#random.chance(0.3)
      ? others
      : [...others, { name, period, limit }]
    this.#books.setBudgets(id, wanted)
  }

  #changeRequestCost(id: string): void {
    if (id === FRAME_ID) return
    const most = this.#random.between(0, 9)
    this.#books.change(id, { requestCostMax: most === 0 ? null : BigInt(most) * 100n })
  }

  #anyBudget(id: string) {
    const budgets = unpackBudgets(this.#books.account(id).budgets)
    return this.#random.pick(['' as const, ...budgets.map(({ name }) => name)]) ?? ''
  }

  /** Cheaper or dearer than the first, or free. */
  #otherTarget(outputTokens: number): WorstCase {
    return {
      fixedPicodollars: BigInt(this.#random.between(0, 4) * 100_000),
      outputTokenPicodollars: BigInt(this.#random.between(0, 4) * 1000),
      outputTokens: this.#random.chance(0.3) ? Math.floor(outputTokens / 2) : outputTokens,
      outputTokensFrom: 'client',
      outputTokensMinimum: 100,
    }
  }

  #newNode(index: number): Node {
    const node: Node = {
      id: 0,
      holdCount: 0,
      state: 'up',
      wasAway: false,
      beatsMissed: 0,
      queue: [],
      sent: undefined,
      open: new Map(),
      spool: new Map(),
      detector: new this.#rules.FailureDetector(DEAD_AFTER_MS),
      clockSkewMs: (index - 1) * 5_000_000,
      known: new this.#rules.Known(),
    }
    this.#join(node)
    return node
  }

  #join(node: Node): void {
    node.id = this.#books.join()
    node.holdCount = 0
    node.detector = new this.#rules.FailureDetector(DEAD_AFTER_MS)
  }

  #newHoldId(node: Node): number {
    return node.id * HOLDS_PER_NODE + ++node.holdCount
  }

  #commit(node: Node, fate: 'heard' | 'lost before' | 'lost after'): void {
    const { sent } = node
    if (sent === undefined || sent.reply !== undefined) return
    const result = fate === 'lost before' ? undefined : this.#execute(sent, node)
    sent.reply = fate === 'heard' && result !== undefined ? result : 'unheard'
    if (sent.reply === 'unheard') node.known = new this.#rules.Known()
  }

  #execute({ batch, decided }: Sent, { clockSkewMs, known }: Node): BatchResult {
    const learner = { known, atMs: this.#elapsedMs }
    const written = decided && this.#books.writeIfTrue(batch, decided, learner)
    return this.#check(batch, written ?? this.#books.run(batch, clockSkewMs, learner))
  }

  /** If it was decided, and that is no longer true, nobody is left who would run it again. */
  #haunt({ batch, decided, clockSkewMs }: Ghost): void {
    const result =
      decided === undefined
        ? this.#books.run(batch, clockSkewMs)
        : this.#books.writeIfTrue(batch, decided)
    if (result !== undefined) this.#check(batch, result)
  }

  #check(batch: Batch, result: BatchResult): BatchResult {
    if (!result.live) return result
    const isLive = batch.nodeId === null || this.#books.nodes.get(batch.nodeId) === 'live'
    assert.ok(isLive, `node ${batch.nodeId} was fenced and committed all the same`)
    this.#oracle.check(batch, result.outcomes)
    return result
  }

  #pass(ms: number): void {
    this.#elapsedMs += ms
    this.#books.now += ms
  }

  #command(item: Item): void {
    if (this.#outageSteps > 0) return
    const batch: Batch = { nodeId: null, items: [item], prices: [], isRetry: false }
    this.#haunt({ batch, decided: undefined, clockSkewMs: 0 })
  }

  /** As the writer does: everything is sent again, but asks that were given up are voided instead. */
  #retry(node: Node, items: readonly Queued[]): void {
    const again = items.map(({ item }): Queued => {
      const isGivenUp = item.kind === 'reserve' && this.#random.chance(0.2)
      return { item: isGivenUp ? voidOf(item) : item, isRetry: true }
    })
    node.queue = [...again, ...node.queue]
  }

  #rejoin(node: Node, items: readonly Queued[]): void {
    this.#join(node)
    const again = items.flatMap(({ item, isRetry }): Queued[] => {
      if (item.kind !== 'reserve') return [{ item, isRetry }]
      const anew: Queued = { item: { ...item, holdId: this.#newHoldId(node) }, isRetry: false }
      return isRetry ? [{ item: voidOf(item), isRetry: true }, anew] : [anew]
    })
    // Asks that were not sent yet carry hold ids of the old node number.
    const waiting = node.queue.map((queued): Queued => {
      const { item } = queued
      if (item.kind !== 'reserve' || queued.isRetry) return queued
      return { item: { ...item, holdId: this.#newHoldId(node) }, isRetry: false }
    })
    node.queue = [...again, ...waiting]
  }

  #hear(node: Node, item: Item, outcome: Outcome): void {
    if (outcome.kind === 'judged' && outcome.answer.reserved && item.kind === 'reserve') {
      const { holdId, amountNanodollars: amount } = outcome.answer
      node.open.set(holdId, { ask: item.ask, amount, isEnding: false })
      if (this.#random.chance(0.1)) this.#end(node, holdId, 'void')
      else this.#oracle.dispatch(holdId)
    }
    if (outcome.kind === 'settled' && item.kind === 'settle') {
      const { id: holdId } = item.charge
      assert.notEqual(outcome.found, 'unknown', `hold ${holdId} has vanished`)
      this.#oracle.acknowledge(holdId)
      node.open.delete(holdId)
      node.spool.delete(holdId)
    }
    if (outcome.kind === 'changed' && item.kind === 'void') node.open.delete(item.holdId)
  }

  /** The provider is done, or was never called. */
  #end(node: Node, holdId: number, how: 'settle' | 'twice' | 'spool' | 'void'): void {
    const hold = node.open.get(holdId)
    if (hold === undefined || hold.isEnding) return
    hold.isEnding = true
    const { keyId, groupId, modelAsked } = hold.ask
    if (how === 'void') {
      const on = { keyId, groupId, holdId }
      node.queue.push({ item: { kind: 'void', ...on, reason: 'gone' }, isRetry: false })
      return
    }
    const share = this.#random.chance(0.03) ? 3 : this.#random.between(0, 2)
    const costNanodollars = (hold.amount * BigInt(share)) / 2n
    const charge: Charge = {
      ...emptyCharge,
      id: holdId,
      requestId: hold.ask.requestId,
      keyId,
      groupId,
      modelAsked,
      costNanodollars,
    }
    this.#oracle.finish(holdId, costNanodollars)
    this.#enqueueSettle(node, charge)
    if (how === 'twice')
      this.#enqueueSettle(node, { ...charge, costNanodollars: costNanodollars + 7n })
    if (how === 'spool') {
      node.spool.set(holdId, charge)
      this.#oracle.acknowledge(holdId)
    }
  }

  #enqueueSettle(node: Node, charge: Charge): void {
    node.queue.push({ item: { kind: 'settle', charge }, isRetry: false })
  }

  #fence(nodeId: number): void {
    const node = this.#nodes.find(({ id }) => id === nodeId)
    assert.ok(
      node === undefined || node.wasAway,
      `node ${nodeId} was taken for dead while it was up`,
    )
    this.#books.fence(nodeId)
  }

  #chargeOrphans(node: Node): void {
    const isQueued = node.queue.some(({ item }) => item.kind === 'orphan')
    if (isQueued) return
    for (const [holdId, { keyId, groupId }] of this.#books.holds) {
      if (this.#books.nodes.get(nodeOf(holdId)) === 'live') continue
      node.queue.push({ item: { kind: 'orphan', keyId, groupId, holdId }, isRetry: false })
    }
  }
}

/** Each action happens as often as it is listed. */
const ACTIONS = [
  ...Array.from({ length: 10 }, () => 'ask' as const),
  ...Array.from({ length: 8 }, () => 'send' as const),
  ...Array.from({ length: 8 }, () => 'commit' as const),
  ...Array.from({ length: 8 }, () => 'deliver' as const),
  ...Array.from({ length: 7 }, () => 'end' as const),
  ...Array.from({ length: 3 }, () => 'tick' as const),
  'change',
  'change',
  'change',
  'crash',
  'restart',
  'pause',
  'ghost',
  'outage',
  'clock',
  'administer',
  'sweep',
] as const

const NOTE = { entryId: 'entry', actor: 'ann', reason: 'test' }

const emptyCharge: Charge = {
  id: 0,
  requestId: '',
  keyId: '',
  groupId: null,
  endpoint: 'chat',
  modelAsked: 'm',
  modelServed: null,
  provider: null,
  status: 200,
  errorCode: null,
  ...NO_USAGE,
  inputTokens: 10,
  costNanodollars: 0n,
  priceVersion: null,
  estimated: false,
  latencyMs: 0,
  firstTokenMs: null,
  traceId: null,
  endUser: null,
  tags: '{}',
  attempts: '[]',
}

function voidOf({ holdId, ask }: Extract<Item, { kind: 'reserve' }>): Item {
  const { keyId, groupId } = ask
  return { kind: 'void', keyId, groupId, holdId, reason: 'abandoned' }
}

function nodeOf(holdId: number): number {
  return Math.floor(holdId / HOLDS_PER_NODE)
}
