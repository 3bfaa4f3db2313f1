// Code for the first call of a key, a tab for each client that can make one. Nothing in it is secret.
import { NativeSelect, Tabs } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Endpoint } from '../../../../src/core/endpoints.ts'
import { modelsQuery } from '../../base/queries.ts'
import { aboutQuery } from '../../base/session.ts'
import { useTranslation } from '../../i18n/i18n.ts'
import { CopyBlock } from '../../parts/copy.tsx'
import { Loading } from '../../parts/notices.tsx'
import styles from './secret-dialog.module.css'
import { type Call, callsBy, callsOf, type Snippet, snippetNames, SNIPPETS } from './snippets.ts'
import { snippetText } from './snippets.ts'

type SnippetTabsProps = {
  readonly permissions: readonly Endpoint[]
  readonly models: readonly string[]
}

export function SnippetTabs({ permissions, models }: SnippetTabsProps) {
  const { t } = useTranslation()
  const catalogue = useQuery(modelsQuery)
  if (catalogue.isPending) return <Loading lines={1} height={180} />
  const known = catalogue.data?.filter(({ id }) => models.includes(id))
  const calls = callsOf({
    permissions,
    models: known ?? models.map((id) => ({ id, kind: 'chat' as const })),
  })
  return <CallTabs label={t('secret.snippets')} calls={calls} snippets={SNIPPETS} />
}

type CallTabsProps = {
  readonly label: string
  readonly calls: readonly Call[]
  readonly snippets: readonly Snippet[]
}

/** The same calls in the words of each client. */
export function CallTabs({ label, calls, snippets }: CallTabsProps) {
  const [wanted, setWanted] = useState<string>()
  const offered = snippets.filter((snippet) => callsBy(snippet, calls).length > 0)
  return (
    <div className={styles['tabs']}>
      <Tabs defaultValue="curl" variant="pills" keepMounted={false}>
        <Tabs.List aria-label={label}>
          {offered.map((snippet) => (
            <Tabs.Tab key={snippet} value={snippet}>
              {snippetNames[snippet]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {offered.map((snippet) => (
          <Tabs.Panel key={snippet} value={snippet} pt="sm">
            <SnippetPanel snippet={snippet} calls={calls} wanted={wanted} onWant={setWanted} />
          </Tabs.Panel>
        ))}
      </Tabs>
    </div>
  )
}

type SnippetPanelProps = Pick<CallTabsProps, 'calls'> & {
  readonly snippet: Snippet
  /** The endpoint that was chosen last, in whichever tab. */
  readonly wanted: string | undefined
  readonly onWant: (endpoint: string) => void
}

function SnippetPanel({ snippet, calls, wanted, onWant }: SnippetPanelProps) {
  const { t } = useTranslation()
  const about = useQuery(aboutQuery)
  const own = callsBy(snippet, calls)
  const call = own.find(({ endpoint }) => endpoint === wanted) ?? own[0]
  if (!call) return null
  const text = snippetText(snippet, call, about.data?.base_url ?? location.origin)
  return (
    <>
      {own.length > 1 && (
        <NativeSelect
          mb="sm"
          label={t('requests.endpoint')}
          value={call.endpoint}
          onChange={({ currentTarget }) => onWant(currentTarget.value)}
          data={own.map(({ endpoint }) => ({
            value: endpoint,
            label: t(`endpoint.${endpoint}`),
          }))}
        />
      )}
      <CopyBlock label={snippetNames[snippet]} text={text} />
    </>
  )
}
