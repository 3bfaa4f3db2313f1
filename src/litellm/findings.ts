// What becomes of each setting of a LiteLLM configuration: taken over, needless here, or not taken over, each with its
// line. Whatever nobody asked about is found at the end, so that nothing is dropped silently.
import type { Setting } from './source.ts'

export type Finding = {
  readonly file: string
  readonly line: number
  readonly path: string
  /** The rest of a sentence that begins with the path. */
  readonly why: string
}

/** `needless`: it is so here without a setting, or has no effect. */
type Fate = { readonly is: 'taken' | 'needless' | 'left'; readonly why: string }

export class Findings {
  readonly #fates = new Map<Setting, Fate>()

  take(setting: Setting): void {
    this.#fates.set(setting, { is: 'taken', why: '' })
  }

  needless(setting: Setting, why: string): void {
    this.#fates.set(setting, { is: 'needless', why })
  }

  /** Whole: whatever was read of it before. */
  leave(setting: Setting, why: string): void {
    for (const each of withinOf(setting)) this.#fates.delete(each)
    this.#fates.set(setting, { is: 'left', why })
  }

  isSettled(setting: Setting): boolean {
    return this.#fates.has(setting)
  }

  /** Everything, in the order of the file. `unknown` is said of what nobody asked about. */
  summary(sections: Iterable<Setting>, unknown: (setting: Setting) => string): Summary {
    const found: Record<Fate['is'], Finding[]> = { taken: [], needless: [], left: [] }
    const visit = (setting: Setting, outer: Fate | undefined): void => {
      // What was said about a part counts more than what was said about the whole.
      const fate = this.#fates.get(setting) ?? outer
      const inside = partsOf(setting)
      if (setting.overriddenIn !== undefined) {
        const why = `is written again in line ${setting.overriddenIn}, which counts`
        return void found.left.push({ ...placed(setting), why })
      }
      const isOpened = withinOf(setting).some((each) => this.#fates.has(each))
      if (inside.length > 0 && (fate?.is !== 'left' || isOpened)) {
        for (const each of inside) visit(each, fate)
      } else if (fate !== undefined) {
        found[fate.is].push({ ...placed(setting), why: fate.why })
      } else if (setting.value === null) {
        found.needless.push({ ...placed(setting), why: 'is empty' })
      } else {
        found.left.push({ ...placed(setting), why: unknown(setting) })
      }
    }
    for (const section of sections) visit(section, undefined)
    return found
  }
}

export type Summary = Readonly<Record<Fate['is'], readonly Finding[]>>

function partsOf({ members, items }: Setting): readonly Setting[] {
  return members === null ? (items ?? []) : [...members.values()]
}

/** Everything inside it. */
function withinOf(setting: Setting): readonly Setting[] {
  return partsOf(setting).flatMap((each) => [each, ...withinOf(each)])
}

/** A model is known by its name rather than by its place in a list. */
function placed({ file, line, path, members }: Setting): Omit<Finding, 'why'> {
  const name = members?.get('model_name')?.text
  return { file, line, path: name === undefined ? path : `${path} (${name})` }
}
