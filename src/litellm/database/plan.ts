// What an import would make of LiteLLM's database: groups from teams, people from users, keys by their hashes. Typed
// values, in Tollgate's words, that are checked before anything is written.
import type { Endpoint } from '../../core/endpoints.ts'
import type { Nanodollars } from '../../core/money.ts'
import type { PeriodRule } from '../../core/periods.ts'

type Period = PeriodRule['period']

/** A budget and the limits that keys and groups share. */
export type PlannedLimits = {
  /** Null: none. */
  readonly limitNanodollars: Nanodollars | null
  readonly period: Period
  /** What was spent in the period that is running there. */
  readonly spentNanodollars: Nanodollars
  readonly rpm: number | null
  readonly tpm: number | null
  readonly concurrency: number | null
  /** The percentage of the budget at which LiteLLM warns. */
  readonly alertAt: number | null
}

export type PlannedGroup = PlannedLimits & {
  /** LiteLLM's id of the team. */
  readonly teamId: string
  readonly name: string
  /** A ceiling; null: every model. */
  readonly models: readonly string[] | null
  readonly isArchived: boolean
  readonly members: readonly { readonly userId: string; readonly isAdmin: boolean }[]
}

export type PlannedPerson = {
  readonly userId: string
  readonly email: string
  readonly name: string | null
  /** Null: only within groups. */
  readonly role: 'Administrator' | 'Viewer' | null
}

export type PlannedKey = PlannedLimits & {
  /** SHA-256 of its secret. */
  readonly hash: string
  /** The last characters of its secret. */
  readonly end: string
  readonly name: string
  readonly teamId: string | null
  readonly ownerId: string | null
  /** When the period began there in which it has spent that. */
  readonly spentSince: number
  readonly models: readonly string[]
  readonly permissions: readonly Endpoint[]
  readonly modelBudgets: readonly {
    readonly model: string
    readonly limitNanodollars: Nanodollars
    readonly period: Period
  }[]
  readonly expiresAt: number | null
  readonly isPaused: boolean
  readonly tags: readonly string[]
  /** Plain values of its metadata, a line each. */
  readonly description: string | null
}

/** Sentences about many rows, each said once and counted. */
export class Tally {
  readonly #counts = new Map<string, number>()

  note(sentence: string, count = 1): void {
    if (count > 0) this.#counts.set(sentence, (this.#counts.get(sentence) ?? 0) + count)
  }

  /** The most frequent first. */
  list(): readonly { readonly note: string; readonly count: number }[] {
    return [...this.#counts]
      .map(([note, count]) => ({ note, count }))
      .toSorted((one, other) => other.count - one.count)
  }
}

/** Names, of which the first are told. */
export class Listed {
  readonly first: string[] = []
  count = 0

  add(name: string): void {
    this.count++
    if (this.first.length < LISTED_MAX) this.first.push(name)
  }
}

const LISTED_MAX = 20

/** What is wrong with rows: all of it is counted, the first are told. */
export class Problems {
  readonly #told: string[] = []
  #count = 0

  add(problem: string): void {
    this.#count++
    if (this.#told.length < PROBLEMS_MAX) this.#told.push(problem)
  }

  list(): readonly string[] {
    const more = this.#count - this.#told.length
    return more === 0 ? this.#told : [...this.#told, `and ${more} more problems of this kind`]
  }
}

const PROBLEMS_MAX = 50
