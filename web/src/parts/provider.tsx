// The first provider: what to set so that real models appear beside the sandbox.
import { useState } from 'react'
import type { ModelAnswer } from '../../../src/admin/contract/gateway.ts'
import { SANDBOX } from '../../../src/core/limits.ts'
import { useTranslation } from '../i18n/i18n.ts'
import { CopyBlock } from './copy.tsx'
import { Choice } from './filters.tsx'
import styles from './provider.module.css'

/** Nothing but the sandbox serves models, which only plays them. */
export function isSandboxAlone(models: readonly ModelAnswer[]): boolean {
  return models.every(({ targets }) => targets.every(({ provider }) => provider === SANDBOX))
}

const variables = {
  openai: 'OPENAI_API_KEY',
  anthropic: 'ANTHROPIC_API_KEY',
  gemini: 'GEMINI_API_KEY',
} as const
type Kind = keyof typeof variables

const names: Readonly<Record<Kind, string>> = {
  openai: 'OpenAI',
  anthropic: 'Anthropic',
  gemini: 'Gemini',
}

/** A variable of the environment, or the same in the file of the configuration. */
export function ConnectProvider() {
  const { t } = useTranslation()
  const [kind, setKind] = useState<Kind>('openai')
  const variable = variables[kind]
  return (
    <div className={styles['provider']}>
      <Choice
        label={t('modelList.provider')}
        isRequired
        value={kind}
        values={['openai', 'anthropic', 'gemini']}
        wordOf={(each) => names[each]}
        onChoose={(each) => setKind(each ?? 'openai')}
      />
      <CopyBlock label={t('provider.variable')} text={`export ${variable}=…`} />
      <CopyBlock
        label="tollgate.yaml"
        text={`providers:\n  ${kind}:\n    kind: ${kind}\n    api_key: "\${${variable}}"`}
      />
    </div>
  )
}
