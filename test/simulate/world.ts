// One simulated run: nodes that ask, settle, crash, pause, lose replies and settle late, over one database, beside a
// provider that knows the truth. Everything happens in one thread, in an order that the seed alone decides.
import assert from 'node:assert/strict'
import type { WorstCase } from '../../src/catalog/worst-case.ts'
import { DAY_MS, HOUR_MS } from '../../src/core/units.ts'
import { HOLDS_PER_NODE } from '../../src/ledger/nodes/membership.ts'
import type { Batch, BatchResult, Item, Outcome, CheckedAsk } from '../../src/ledger/rules/batch.ts'
import type { Charge } from '../../src/ledger/rules/rows.ts'
import { MemoryDatabase, type Faults } from './memory-database.ts'
import { howWritten, SqliteDatabase, SqliteNode, type InMemory } from './memory-journal.ts'
import {
  ACTIONS,
  ACTIONS_ON_SQLITE,
  emptyCharge,
  nodeOf,
  voidOf,
  type Ghost,
  type Node,
  type Queued,
  type Sent,
} from './nodes.ts'
import { Oracle } from './oracle.ts'
import { GROUPS, KEYS, MODELS, People } from './people.ts'
import { Random } from './random.ts'
import type { Rules } from './rules.ts'

const STEPS = 250
/** Before anything is decided in memory, much has to be known. */
const STEPS_ON_SQLITE = 500
const NODES = 3
const DEAD_AFTER_MS = 4000
const BATCH_MAX = 8
const SETTLE_DOWN_ROUNDS = 60

type Code = {
  readonly rules: Rules
  readonly faults?: Faults | undefined
  /** One node, mostly alone, on SQLite, instead of several on PostgreSQL. */
  readonly onSqlite?: boolean | undefined
}

export function simulate(seed: number, code: Code): void {
  const world = new World(seed, code)
  const steps = code.onSqlite === true ? STEPS_ON_SQLITE : STEPS
  for (let step = 0; step < steps; step++) world.step()
  world.settleDown()
}

class World {
  readonly #random: Random
  readonly #rules: Rules
  readonly #faults: Faults
  readonly #books: MemoryDatabase
  readonly #sqlite: SqliteDatabase | undefined
  /** When the change of a person began that is not committed yet: until then nobody else can write to SQLite. */
  #changingSince: number | undefined
  readonly #oracle: Oracle
  readonly #people: People
  readonly #nodes: Node[] = []
  /** Batches sent by processes that have died since. */
  #ghosts: Ghost[] = []
  /** As the nodes measure time: nobody can set it. */
  #elapsedMs = 0
  #monotonicMs = 0
  #outageSteps = 0
  #requests = 0

  constructor(seed: number, { rules, faults = {}, onSqlite = false }: Code) {
    this.#random = new Random(seed)
    this.#rules = rules
    this.#faults = faults
    this.#sqlite = onSqlite ? new SqliteDatabase(rules, faults) : undefined
    this.#books = this.#sqlite ?? new MemoryDatabase(rules, faults)
    this.#oracle = new Oracle(this.#books)
    this.#people = new People({
      random: this.#random,
      books: this.#books,
      sqlite: this.#sqlite,
      oracle: this.#oracle,
      command: (item) => this.#command(item),
    })
    this.#people.openAccounts()
    const nodes = onSqlite ? 2 : NODES
    for (let count = 0; count < nodes; count++) this.#nodes.push(this.#newNode(count))
    if (onSqlite) this.#leave(this.#nodes[1])
  }

  step(): void {
    if (this.#outageSteps > 0) this.#outageSteps -= 1
    this.#pass(this.#random.between(0, 400))
    if (this.#sqlite !== undefined) return this.#stepOnSqlite(this.#sqlite)
    const node = this.#random.pick(this.#nodes)
    const action = this.#random.pick(ACTIONS)
    if (node !== undefined && action !== undefined) this[action](node)
  }

  /** Most of the time the first node is up, and alone. */
  #stepOnSqlite(sqlite: SqliteDatabase): void {
    if (this.#random.chance(0.05)) return this.#besides(sqlite)
    const [first, visitor] = this.#nodes
    const node = visitor?.state === 'up' && this.#random.chance(0.5) ? visitor : first
    if (node === undefined) return
    if (node.state !== 'up' && this.#random.chance(0.2)) {
      if (node.state === 'paused') node.state = 'up'
      else this.restart(node)
    }
    const action = this.#random.pick(ACTIONS_ON_SQLITE)
    if (action !== undefined) this[action](node)
  }

  /** The faults end, every node finishes what is open, and the books are checked. */
  settleDown(): void {
    this.#outageSteps = 0
    this.#commitChange()
    for (const ghost of this.#ghosts.splice(0)) this.#haunt(ghost)
    for (let round = 0; round < SETTLE_DOWN_ROUNDS; round++) {
      for (const node of this.#nodes) {
        if (node.state === 'paused') node.state = 'up'
        if (node.state === 'down') this.restart(node)
        for (const holdId of [...node.open.keys()]) this.#end(node, holdId, 'settle')
        this.send(node)
        this.#commit(node, 'heard')
        this.#commit(node, 'heard')
        this.deliver(node)
        this.sweep(node)
      }
      this.tick()
    }
    this.#sqlite?.fold()
    this.#oracle.lookAt(this.#books).checkEnd()
  }

  ask(node: Node): void {
    if (node.state !== 'up') return
    // More often the one with the most limits, so that they are reached.
    const often = this.#sqlite === undefined ? ['key_a'] : ['key_a', 'key_a', 'key_b', 'key_b']
    const keyId = this.#random.pick([...often, ...KEYS]) ?? ''
    const modelAsked = this.#random.pick(MODELS) ?? ''
    // Now and then exactly what is left, where an off-by-one error shows.
    const left = Number(this.#oracle.lookAt(this.#seen).left(keyId, modelAsked) ?? 0n)
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
    if (node.journal !== undefined) {
      node.sent = { items, batch, decided: undefined, inMemory: node.journal.decide(batch) }
      return
    }
    const decided = this.#books.decideOnKnown(batch, node.known, this.#elapsedMs)
    node.sent = { items, batch, decided }
  }

  commit(node: Node): void {
    const fate = this.#random.next() * (this.#sqlite === undefined ? 1 : 3)
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
    // What was sent may still arrive, long after its sender has died: on SQLite what it was writing, at once.
    if (node.journal !== undefined) {
      const { inMemory } = node.sent ?? {}
      if (inMemory?.isWritten === false) node.journal.write(inMemory, howWritten(this.#random, 0.5))
      this.#oracle.forgetMinutes(this.#books.now)
    } else if (node.sent !== undefined && node.sent.reply === undefined) {
      this.#ghosts.push({ ...node.sent, clockSkewMs: node.clockSkewMs })
    }
    Object.assign(node, {
      state: 'down',
      wasAway: true,
      queue: [],
      sent: undefined,
      open: new Map(),
      known: new this.#rules.Known(),
      journal: this.#sqlite && new SqliteNode(this.#sqlite),
    })
  }

  restart(node: Node): void {
    if (node.state !== 'down' || this.#changingSince !== undefined) return
    // Its process is known to be gone.
    if (this.#sqlite !== undefined) this.#books.fence(node.id)
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
    if (this.#outageSteps > 0 || this.#changingSince !== undefined) return
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
    if (!this.#random.chance(0.2)) return
    this.#outageSteps = this.#random.between(1, this.#sqlite === undefined ? 200 : 50)
  }

  /** Hours pass, a day ends; now and then somebody sets the clock back, by hours or by weeks. */
  clock(): void {
    // What begins while somebody changes things began in memory only.
    if (this.#changingSince !== undefined && this.#random.chance(0.7)) return this.#endPeriod()
    if (this.#random.chance(0.3)) this.#books.now += this.#random.between(0, 5) * HOUR_MS
    if (this.#random.chance(0.05)) {
      this.#oracle.forgetMinutes(this.#books.now)
      this.#books.now -= this.#random.between(
        1,
        this.#random.chance(0.2) ? 30 * DAY_MS : 2 * HOUR_MS,
      )
    }
  }

  /** The next period that ends does so now. */
  #endPeriod(): void {
    const ends = [...this.#books.accounts.values()].flatMap(({ periodEndsAt: at }) =>
      at !== null && at > this.#books.now ? [at] : [],
    )
    if (ends.length > 0) this.#books.now = Math.min(...ends)
  }

  /** On SQLite what is decided in memory until a change is committed counts before it, and is carried out after it. */
  administer(): void {
    if (this.#sqlite === undefined) return this.#people.change()
    if (this.#changingSince !== undefined) return this.#commitChange()
    this.#sqlite.fold()
    this.#changingSince = this.#books.now
    if (this.#random.chance(0.4)) this.#commitChange()
  }

  #commitChange(): void {
    const { now } = this.#books
    const since = this.#changingSince
    if (since === undefined) return
    this.#changingSince = undefined
    this.#books.now = since
    this.#people.change(Math.max(since, now))
    this.#books.now = now
  }

  /** A node sums up days and looks for its own forgotten holds, as the maintenance does every half minute. */
  sweep(node: Node): void {
    if (this.#changingSince !== undefined) return
    this.#sqlite?.fold()
    this.#books.sumUpKeyDays()
    if (node.state !== 'up' || node.sent !== undefined || node.queue.length > 0) return
    for (const [holdId, { keyId, groupId }] of this.#books.holds) {
      if (nodeOf(holdId) !== node.id || node.open.has(holdId)) continue
      const on = { keyId, groupId, holdId }
      node.queue.push({ item: { kind: 'void', ...on, reason: 'forgotten' }, isRetry: true })
    }
  }

  /** What happens beside a node on SQLite: somebody reads, its own thread folds, a second node leaves. */
  #besides(sqlite: SqliteDatabase): void {
    const [node, visitor] = this.#nodes
    if (this.#changingSince !== undefined) return
    const what = this.#random.next()
    if (what < 0.3) sqlite.fold()
    else if (what < 0.55) node?.journal?.fold()
    else if (what < 0.6) node?.journal?.forgetAccounts()
    else if (visitor === undefined) return
    else if (sqlite.nodes.get(visitor.id) === 'live') this.#leave(visitor)
    else if (this.#random.chance(0.15)) this.restart(visitor)
  }

  #leave(node: Node | undefined): void {
    if (node === undefined) return
    const journal = this.#sqlite && new SqliteNode(this.#sqlite)
    Object.assign(node, { state: 'down', wasAway: true, queue: [], sent: undefined, journal })
    node.open.clear()
    this.#books.fence(node.id)
  }

  /** As the books are with what is in journals. */
  get #seen(): MemoryDatabase {
    return this.#sqlite?.view() ?? this.#books
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
      journal: this.#sqlite && new SqliteNode(this.#sqlite),
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
    if (sent.inMemory !== undefined && this.#commitInMemory(node, sent, sent.inMemory)) return
    // The change is not kept open for long when a batch waits for it.
    if (this.#changingSince !== undefined && this.#random.chance(0.3)) this.#commitChange()
    if (this.#changingSince !== undefined) return
    if (node.journal !== undefined && fate !== 'heard') {
      sent.reply = 'unheard'
      // Its record may count before it is sent again.
      if (sent.inMemory) this.#learn(sent.batch, sent.inMemory)
      return
    }
    const result = fate === 'lost before' ? undefined : this.#execute(sent, node)
    sent.reply = fate === 'heard' && result !== undefined ? result : 'unheard'
    if (sent.reply === 'unheard') node.known = new this.#rules.Known()
  }

  /** First its record is written, then it counts if nobody else has committed meanwhile; if not, it is decided again. */
  #commitInMemory(node: Node, sent: Sent, inMemory: InMemory): boolean {
    const { journal } = node
    if (journal === undefined) return false
    if (this.#faults.answerFirst === true) {
      sent.reply = inMemory.result
      return true
    }
    if (!inMemory.isWritten) {
      journal.write(inMemory, howWritten(this.#random, 0.1))
      return true
    }
    if (node.state !== 'up') return true
    if (!journal.counts()) return false
    sent.reply = inMemory.result
    const view = this.#seen
    const { now } = view
    view.now = inMemory.at
    this.#oracle.lookAt(view).check(sent.batch, inMemory.result.outcomes)
    view.now = now
    // Decided before the clock was set back.
    if (inMemory.at > now) this.#oracle.forgetMinutes(inMemory.at)
    return true
  }

  #execute({ batch, decided, inMemory }: Sent, node: Node): BatchResult | undefined {
    const { clockSkewMs, known, journal } = node
    if (journal !== undefined) {
      // Somebody may have brought its record in, and ended its journal with that.
      const isFound = batch.items.some((item) => {
        return item.kind === 'reserve' && this.#books.holds.has(item.holdId)
      })
      const { result, isBroughtIn } = journal.run(batch, inMemory)
      // Records without an answer are brought in by whoever comes first.
      if (this.#nodes.some(({ sent }) => sent?.inMemory?.isWritten === true)) {
        this.#oracle.forgetMinutes(this.#books.now)
      }
      if (inMemory !== undefined && (isFound || isBroughtIn)) this.#learn(batch, inMemory)
      if (inMemory !== undefined && isBroughtIn) return inMemory.result
      return inMemory?.record !== undefined && !result.live ? undefined : this.#check(batch, result)
    }
    const learner = { known, atMs: this.#elapsedMs }
    const written = decided && this.#books.writeIfTrue(batch, decided, learner)
    return this.#check(batch, written ?? this.#books.run(batch, clockSkewMs, learner))
  }

  /** When those who count minutes count it, nobody can tell. */
  #learn(batch: Batch, { result }: InMemory): void {
    this.#oracle.learn(batch, result.outcomes)
    this.#oracle.forgetMinutes(this.#books.now)
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
    this.#oracle.lookAt(this.#books).check(batch, result.outcomes)
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
      else this.#oracle.lookAt(this.#seen).dispatch(holdId)
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
