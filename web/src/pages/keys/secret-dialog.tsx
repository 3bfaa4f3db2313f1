// The only time a secret is visible: after creation and after rotation. It exists only in this dialog's memory, and
// closing the dialog before the secret is stored asks again.
import { Button, Checkbox, Tabs, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import type { CallResult } from '../../../../src/admin/contract/trial.ts'
import { keyRoutes } from '../../../../src/admin/contract/keys.ts'
import { call, modelAnswerMsMax } from '../../base/api.ts'
import { aboutQuery } from '../../base/session.ts'
import { useTranslation } from '../../i18n/i18n.ts'
import { BusyButton, useChange } from '../../parts/changes.tsx'
import { CopyBlock, CopyButton } from '../../parts/copy.tsx'
import { Dialog, GuardedDialog } from '../../parts/dialogs.tsx'
import { EyeIcon, PlayIcon } from '../../parts/icons.tsx'
import { CallRefusal, ErrorAlert, Notice } from '../../parts/notices.tsx'
import { callFacts } from '../../parts/refusal-words.ts'
import { madeOldByKey } from './key-words.ts'
import styles from './secret-dialog.module.css'
import { snippetNames, SNIPPETS, snippetText } from './snippets.ts'

type SecretDialogProps = {
  readonly created: {
    readonly id: string
    readonly name: string
    readonly models: readonly string[]
    /** Null: the first answer, which carried it, was lost, and this is a repeat. */
    readonly secret: string | null
  }
  readonly reason: 'created' | 'rotated'
  readonly onClose: () => void
}

export function SecretDialog({ created, reason, onClose }: SecretDialogProps) {
  const { secret } = created
  if (secret === null) return <LostSecret name={created.name} onClose={onClose} />
  return <ShownSecret created={{ ...created, secret }} reason={reason} onClose={onClose} />
}

type ShownSecretProps = SecretDialogProps & { readonly created: { readonly secret: string } }

function ShownSecret({ created, reason, onClose }: ShownSecretProps) {
  const { t } = useTranslation()
  const [isStored, setStored] = useState(false)
  const { id, name, models, secret } = created
  return (
    <GuardedDialog
      size="xl"
      title={t(`secret.${reason}`, { name })}
      isKept={isStored}
      question={{ title: t('secret.closeTitle'), loss: t('secret.closeEffect') }}
      onClose={onClose}
    >
      {(close) => (
        <>
          <Notice tone="warn" title={t('secret.once')}>
            {t('secret.keepSafe')}
          </Notice>
          <SecretField secret={secret} onCopied={() => setStored(true)} />
          <SnippetTabs models={models} secret={secret} />
          <TestCall id={id} />
          <div className={styles['foot']}>
            <Checkbox
              label={t('secret.stored')}
              checked={isStored}
              onChange={({ currentTarget }) => setStored(currentTarget.checked)}
            />
            <Button disabled={!isStored} onClick={close}>
              {t('secret.done')}
            </Button>
          </div>
        </>
      )}
    </GuardedDialog>
  )
}

function LostSecret({ name, onClose }: { readonly name: string; readonly onClose: () => void }) {
  const { t } = useTranslation()
  return (
    <Dialog
      title={t('secret.lostTitle')}
      onClose={onClose}
      buttons={<Button onClick={onClose}>{t('dialog.close')}</Button>}
    >
      <Notice tone="warn">{t('secret.lost', { name })}</Notice>
    </Dialog>
  )
}

type SecretFieldProps = { readonly secret: string; readonly onCopied: () => void }

/** A screen reader hears what it is and its length, not the secret itself. */
function SecretField({ secret, onCopied }: SecretFieldProps) {
  const { t } = useTranslation()
  const [isShown, setShown] = useState(true)
  const field = useRef<HTMLInputElement>(null)
  return (
    <div className={styles['field']}>
      <TextInput
        ref={field}
        label={t('secret.label', { length: secret.length })}
        type={isShown ? 'text' : 'password'}
        value={secret}
        readOnly
        autoComplete="off"
        spellCheck={false}
        data-autofocus
        onCopy={onCopied}
        onFocus={({ currentTarget }) => currentTarget.select()}
      />
      <div>
        <CopyButton
          text={secret}
          label={t('secret.what')}
          variant="filled"
          size="sm"
          onCopied={onCopied}
          onFailure={() => {
            setShown(true)
            field.current?.select()
          }}
        />
      </div>
      <Button
        variant="default"
        size="sm"
        leftSection={<EyeIcon />}
        onClick={() => setShown(!isShown)}
      >
        {isShown ? t('secret.hide') : t('secret.show')}
      </Button>
    </div>
  )
}

type SnippetTabsProps = { readonly models: readonly string[]; readonly secret: string }

/** Works as it stands, so it has the secret in it, unless it is to go into a ticket or a repository. */
function SnippetTabs({ models, secret }: SnippetTabsProps) {
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
      <Checkbox
        mt="sm"
        label={t('secret.inSnippets')}
        checked={hasSecret}
        onChange={({ currentTarget }) => setHasSecret(currentTarget.checked)}
      />
    </div>
  )
}

/** A small call by the gateway itself: shows that the key works, or the error a program would get. */
export function TestCall({ id }: { readonly id: string }) {
  const { t } = useTranslation()
  const test = useChange(madeOldByKey, {
    change: () =>
      call(keyRoutes.testKey, { params: { id }, body: {}, timeoutMs: modelAnswerMsMax }),
  })
  return (
    <div>
      <BusyButton
        variant="default"
        leftSection={<PlayIcon />}
        isBusy={test.isPending}
        onClick={() => test.mutate()}
      >
        {t('testCall.run')}
      </BusyButton>
      <div aria-live="polite" className={styles['result']}>
        {test.data && <TestResult result={test.data} />}
        {test.error && <ErrorAlert title={t('testCall.notMade')} error={test.error} />}
      </div>
    </div>
  )
}

function TestResult({ result }: { readonly result: CallResult }) {
  const words = useTranslation()
  const { t } = words
  if (result.error)
    return (
      <Notice tone="bad" title={t('testCall.refused', { status: result.status })}>
        <CallRefusal error={result.error} />
        <small className="muted">
          <code>{result.error.code}</code> · {t('error.requestId')} <code>{result.request_id}</code>
        </small>
      </Notice>
    )
  return (
    <Notice tone="good" title={t('testCall.passed', { model: result.model })}>
      {callFacts(result, words)}
    </Notice>
  )
}
