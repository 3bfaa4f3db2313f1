// A list of what comes and goes with every request. Not a Set: V8 shrinks a Set by copying it, and the old copy, once
// in the old generation, keeps its members alive until the next full collection: 4 KB for each request.

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
