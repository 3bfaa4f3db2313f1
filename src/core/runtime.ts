// What the event loop, the garbage collector and the loader of modules require of us: long work in steps, a list that
// lets go of its members, and where a thread's module is.
import { extname } from 'node:path'
import { setImmediate } from 'node:timers/promises'

/** All steps with a smaller body together take a few milliseconds, so it never waits. */
const LARGE_BYTES = 256 * 1024

const DONE = Promise.resolve()
let last = DONE

/** Whether work on a body of this size is done in steps. */
export function isLarge(bytes: number): boolean {
  return bytes > LARGE_BYTES
}

/**
 * Work on large bodies is done in steps: between two of them the event loop turns, so that whoever else waits is served.
 * A step is one pass over a body, and the limits on bodies keep each within some tens of milliseconds. Waits for the
 * turn of the next step with a body of this size. Of all large bodies, one has its turn at a time.
 */
export function nextStep(bytes: number): Promise<void> {
  if (!isLarge(bytes)) return DONE
  last = last.then(turnOver)
  return last
}

/** Two turns: in one a connection is accepted, in the next its request is read. */
async function turnOver(): Promise<void> {
  await setImmediate()
  await setImmediate()
}

/**
 * A list of what comes and goes with every request. Not a Set: V8 shrinks a Set by copying it, and the old copy, once
 * in the old generation, keeps its members alive until the next full collection: 4 KB for each request.
 */
export class LinkedList<Member> {
  readonly #end = new Link<Member>()

  get isEmpty(): boolean {
    return this.#end.after === this.#end
  }

  add(member: Member): Link<Member> {
    return new Link(member, this.#end)
  }

  /** A snapshot in the order of arrival: members may be removed while going through it. */
  members(): readonly Member[] {
    const members: Member[] = []
    for (let link = this.#end.after; link.member !== undefined; link = link.after) {
      members.push(link.member)
    }
    return members
  }
}

/** A member's place, by which it is removed. */
export class Link<Member> {
  member: Member | undefined
  before: Link<Member>
  after: Link<Member>

  constructor(member?: Member, end?: Link<Member>) {
    this.member = member
    this.before = end?.before ?? this
    this.after = end ?? this
    this.before.after = this
    this.after.before = this
  }

  /** Clears the link: one in V8's old generation would keep alive what it points to. */
  remove(): void {
    this.before.after = this.after
    this.after.before = this.before
    this.before = this
    this.after = this
    this.member = undefined
  }
}

/** Finds a module that is loaded by URL, as a worker thread's is: beside the calling file, with the same extension: .ts in the sources, .js in dist/, which is a flat folder. */
export function moduleBeside(url: string, name: string): URL {
  return new URL(name + extname(url), url)
}
