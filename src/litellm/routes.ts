// The routes of a LiteLLM configuration beside its model list: other names of models, and what takes over when one
// fails. They may stand in two sections.
import type { Findings } from './findings.ts'
import type { Setting } from './source.ts'

const PLACES = ['router_settings', 'litellm_settings']

type Sections = ReadonlyMap<string, Setting>

type Alias = { readonly alias: string; readonly to: string; readonly setting: Setting }

/** `alias: model`, or `alias: { model: …, hidden: true }`. */
export function readAliases(sections: Sections, findings: Findings): readonly Alias[] {
  const maps = [
    sections.get('router_settings')?.members?.get('model_group_alias'),
    sections.get('litellm_settings')?.members?.get('model_alias_map'),
  ]
  return maps.flatMap((map) =>
    [...(map?.members ?? [])].flatMap(([alias, setting]) => {
      const to = setting.members?.get('model')?.text ?? setting.text
      const hidden = setting.members?.get('hidden')
      if (hidden?.value === true) {
        findings.leave(hidden, 'a key’s list of models has every name that the key may call')
      }
      return to === '' ? [] : [{ alias, to, setting }]
    }),
  )
}

type Fallback = {
  readonly from: string
  readonly to: readonly string[]
  readonly setting: Setting
}

/** `[{ model: [others] }]`; `*` and default_fallbacks are for every model without its own. */
export function readFallbacks(
  sections: Sections,
  findings: Findings,
): { readonly own: readonly Fallback[]; readonly general: readonly string[] } {
  const general: string[] = []
  const own: Fallback[] = []
  for (const place of PLACES) {
    const members = sections.get(place)?.members
    const common = members?.get('default_fallbacks')
    if (common !== undefined) {
      findings.take(common)
      general.push(...textsIn(common))
    }
    const pairs = members?.get('fallbacks')?.items?.flatMap((item) => [...(item.members ?? [])])
    for (const [from, setting] of pairs ?? []) {
      const to = textsIn(setting)
      if (to.length === 0) continue
      if (from !== '*') own.push({ from, to, setting })
      else {
        findings.take(setting)
        general.push(...to)
      }
    }
  }
  return { own, general }
}

/** Entries that carry parameters of their own are left, and so named. */
function textsIn({ items, text }: Setting): readonly string[] {
  return (
    items?.flatMap((item) => (item.members === null ? item.text : [])) ?? [text].filter(Boolean)
  )
}
