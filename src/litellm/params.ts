// Reads the settings of one section of a LiteLLM configuration in Tollgate's words, and notes that they were read.
import type { Findings } from './findings.ts'
import { numberIn, type Setting } from './source.ts'

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
    this.findings.take(setting)
    return writtenText(setting.text)
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

/** A text that Tollgate reads as LiteLLM does. */
function writtenText(text: string): string {
  const variable = VARIABLE.exec(text)
  return variable === null ? text.replaceAll('${', '$${') : `\${${variable[1]}}`
}

/** The variable that LiteLLM reads if nothing is written; empty leaves the provider out. */
export function usualVariable(name: string): string {
  return `\${${name}:-}`
}
