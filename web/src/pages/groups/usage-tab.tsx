// The group's usage: over time, by key, model, provider or endpoint, and as a download.
import { UsageView } from '../usage/usage.tsx'
import type { TabProps } from './tabs.tsx'

export function UsageTab({ group, search, onChange }: TabProps) {
  return (
    <UsageView
      search={search}
      onChange={onChange}
      ofGroup={{ id: group.id, periodStartsAt: group.period_starts_at }}
    />
  )
}
