// Ready-made code for each client. It works as it stands, so it contains the secret, which must be removed before the
// code goes into a ticket or a repository.
import { Switch, Tabs } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from '../../../i18n/use-translation.ts'
import { CopyBlock } from '../../../parts/copy-block.tsx'
import { aboutQuery } from '../../../session.ts'
import styles from './secret-dialog.module.css'
import { snippetNames, SNIPPETS, snippetText } from './snippets.ts'

type SnippetTabsProps = { readonly models: readonly string[]; readonly secret: string }

export function SnippetTabs({ models, secret }: SnippetTabsProps) {
  const { t } = useTranslation()
  const about = useQuery(aboutQuery)
  const [hasSecret, setHasSecret] = useState(true)
  const values = {
    baseUrl: about.data?.base_url ?? location.origin,
    model: models.find((model) => !model.includes('embedding')) ?? models[0] ?? 'MODEL',
    secret: hasSecret ? secret : undefined,
  }
  return (
    <div className={styles['tabs']}>
      <Tabs defaultValue="curl" variant="pills">
        <Tabs.List aria-label={t('secret.snippets')}>
          {SNIPPETS.map((snippet) => (
            <Tabs.Tab key={snippet} value={snippet}>
              {snippetNames[snippet]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {SNIPPETS.map((snippet) => (
          <Tabs.Panel key={snippet} value={snippet} pt="sm">
            <CopyBlock label={snippetNames[snippet]} text={snippetText(snippet, values)} />
          </Tabs.Panel>
        ))}
      </Tabs>
      <Switch
        mt="sm"
        label={t('secret.inSnippets')}
        checked={hasSecret}
        onChange={({ currentTarget }) => setHasSecret(currentTarget.checked)}
      />
    </div>
  )
}
