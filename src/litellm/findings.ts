// What becomes of each setting of a LiteLLM configuration: taken over, needless here, or not taken over, each with its
// line. Params reads settings in Tollgate's words and notes that; whatever nobody asked about is found at the end, so that
// nothing is dropped silently.
import { numberIn, type Setting } from './source.ts'

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
        const why = `is written again in ${setting.overriddenIn}, which counts`
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

// Reads the settings of one section of a LiteLLM configuration in Tollgate's words, and notes that they were read.

const VARIABLE = /^os\.environ\/([A-Za-z_]\w*)$/

export class Params {
  readonly findings: Findings
  readonly #sections: readonly (ReadonlyMap<string, Setting> | null | undefined)[]

  /** Of several sections, the first that has a setting says it. */
  constructor(findings: Findings, sections: Params['sections']) {
    this.findings = findings
    this.#sections = sections
  }

  get sections(): readonly (ReadonlyMap<string, Setting> | null | undefined)[] {
    return this.#sections
  }

  /** Undefined also for one that is empty. */
  find(name: string): Setting | undefined {
    const found = this.#sections.flatMap((section) => section?.get(name) ?? [])
    return found.find(({ value, members, items }) => value !== null || members || items)
  }

  has(name: string): boolean {
    return this.find(name) !== undefined
  }

  /** The setting itself, taken over. */
  take(name: string): Setting | undefined {
    const setting = this.find(name)
    if (setting !== undefined) this.findings.take(setting)
    return setting
  }

  /** Its text as Tollgate writes it: `os.environ/NAME` is `${NAME}` here. */
  text(name: string): string | undefined {
    const setting = this.find(name)
    if (setting === undefined || setting.members || setting.items || setting.text === '') {
      return undefined
    }
    const text = writtenText(setting.text)
    if (text === undefined) this.findings.leave(setting, 'names a variable that no shell can set')
    else this.findings.take(setting)
    return text
  }

  number(name: string): number | undefined {
    const setting = this.find(name)
    const number = setting && numberIn(setting)
    if (setting === undefined || number === undefined || !Number.isFinite(number)) return undefined
    this.findings.take(setting)
    return number
  }

  flag(name: string): boolean | undefined {
    const setting = this.find(name)
    if (typeof setting?.value !== 'boolean') return undefined
    this.findings.take(setting)
    return setting.value
  }

  leave(name: string, why: string): void {
    const setting = this.find(name)
    if (setting !== undefined) this.findings.leave(setting, why)
  }
}

/** A text that Tollgate reads as LiteLLM does; undefined: there is none. */
function writtenText(text: string): string | undefined {
  const variable = VARIABLE.exec(text)
  if (variable !== null) return `\${${variable[1]}}`
  return text.startsWith('os.environ/') ? undefined : text.replaceAll('${', '$${')
}

/** The variable that LiteLLM reads if nothing is written; empty leaves the provider out. */
export function usualVariable(name: string): string {
  return `\${${name}:-}`
}
