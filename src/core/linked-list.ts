// What comes and goes with every request. Not a Set: V8 takes room back by copying a Set, and the copy that is left
// behind, once it has grown old, keeps alive what was in it until the next full collection, 4 KB of each request.

export class LinkedList<Member> {
  readonly #end = new Link<Member>()

  get isEmpty(): boolean {
    return this.#end.after === this.#end
  }

  add(member: Member): Link<Member> {
    return new Link(member, this.#end)
  }

  /** In the order they came, as they are now: who goes through them may remove any. */
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

  /** Keeps nothing: a link that has grown old would keep alive what it points to. */
  remove(): void {
    this.before.after = this.after
    this.after.before = this.before
    this.before = this
    this.after = this
    this.member = undefined
  }
}
