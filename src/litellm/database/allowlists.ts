// What LiteLLM's lists of models mean, by name: empty lists, wildcards, access groups and names with a provider. Lists
// are explicit here.
import type { Tally } from './plan.ts'

export type KnownModels = {
  /** The public names that the configuration has here. */
  readonly names: ReadonlySet<string>
  readonly accessGroups: ReadonlyMap<string, readonly string[]>
  /** What stands for every model; null: the operator has not said. */
  readonly every: readonly string[] | null
}

export const UNDECIDED =
  'keys may call every model there, and lists are explicit here: say --all-models-as every, or which'

/** Null: every model. */
type Meant = readonly string[] | null

export class Allowlists {
  readonly #known: KnownModels
  readonly #tally: Tally

  constructor(known: KnownModels, tally: Tally) {
    this.#known = known
    this.#tally = tally
  }

  /** Of a team: null if it may call every model. */
  ofTeam(models: readonly string[]): Meant {
    return models.length === 0 ? null : this.#named(models, null)
  }

  /** Of a key: an empty list is that of its team. `every`: what stands for all models. */
  ofKey(models: readonly string[], team: Meant): readonly string[] {
    const meant = models.length === 0 ? team : this.#named(models, team)
    if (meant !== null) return meant
    this.#tally.note(
      this.#known.every === null
        ? UNDECIDED
        : 'keys may call every model there: they get the models of today',
    )
    return this.#known.every ?? []
  }

  #named(models: readonly string[], team: Meant): Meant {
    const all: string[] = []
    for (const name of models) {
      const meant = name === 'all-team-models' ? team : this.#meaningOf(name)
      if (meant === null) return null
      all.push(...meant)
    }
    return [...new Set(all)]
  }

  #meaningOf(name: string): Meant {
    const { names, accessGroups } = this.#known
    if (name === '*' || name === 'all-proxy-models') return null
    if (name === 'no-default-models') return []
    const group = accessGroups.get(name)
    if (names.has(name)) return [name]
    if (group !== undefined) return group
    if (name.includes('*')) return this.#matching(name)
    const plain = name.slice(name.indexOf('/') + 1)
    if (names.has(plain)) return [plain]
    this.#tally.note(
      `the model ${name} is on lists, but not in the configuration: it stays on them`,
    )
    // Names here have neither spaces nor commas.
    return /^[^\s,]{1,200}$/.test(name) ? [name] : []
  }

  #matching(pattern: string): readonly string[] {
    const parts = pattern.split('*').map((part) => RegExp.escape(part))
    const shape = new RegExp(`^${parts.join('.*')}$`)
    const found = [...this.#known.names].filter((name) => shape.test(name))
    this.#tally.note(
      `${pattern} is a wildcard: lists get the ${found.length} models it means today`,
    )
    return found
  }
}
