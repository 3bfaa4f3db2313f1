// The key's usage: over time, by model, provider or endpoint, and as a download.
import { UsageView } from '../../usage/usage.tsx'
import type { TabProps } from './tabs.tsx'

export function UsageTab({ detail, search, onChange }: TabProps) {
  return (
    <UsageView
      search={search}
      onChange={onChange}
      ofKey={{ id: detail.id, periodStartsAt: detail.period_starts_at }}
    />
  )
}
