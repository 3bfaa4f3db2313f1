// Copying to the clipboard: a button that says "Copied" only after the browser did, and code to copy.
import { Button } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { useTranslation } from '../i18n/i18n.ts'
import styles from './copy.module.css'
import { CheckIcon, CopyIcon } from './icons.tsx'

type CopyButtonProps = {
  readonly text: string
  /** What is copied, for screen readers. */
  readonly label: string
  readonly variant?: 'default' | 'filled' | 'subtle'
  readonly size?: 'compact-sm' | 'sm'
  /** Selects the text on the page, so that Ctrl+C works after copying failed. */
  readonly onFailure?: () => void
  readonly onCopied?: () => void
}

const shownMs = 2_500

export function CopyButton(props: CopyButtonProps) {
  const { text, label, variant = 'default', size = 'compact-sm', onFailure, onCopied } = props
  const { t } = useTranslation()
  const [outcome, setOutcome] = useState<'copied' | 'failed'>()
  useEffect(() => {
    if (outcome !== 'copied') return undefined
    const timer = setTimeout(() => setOutcome(undefined), shownMs)
    return () => clearTimeout(timer)
  }, [outcome])

  const copy = async () => {
    const copied = await copyText(text)
    setOutcome(copied ? 'copied' : 'failed')
    if (copied) onCopied?.()
    else onFailure?.()
  }
  const said = outcome && t(`copy.${outcome}`)
  return (
    <>
      <Button
        variant={variant}
        size={size}
        leftSection={outcome === 'copied' ? <CheckIcon /> : <CopyIcon />}
        aria-label={outcome === 'copied' ? t('copy.copied') : t('copy.copyWhat', { what: label })}
        onClick={() => void copy()}
      >
        {outcome === 'copied' ? t('copy.copied') : t('copy.copy')}
      </Button>
      <span role="status" className={outcome === 'failed' ? 'muted' : 'visually-hidden'}>
        {said}
      </span>
    </>
  )
}

type CopyBlockProps = {
  readonly label: string
  readonly text: string
  readonly onCopied?: () => void
}

/** Code to copy. If copying fails, it stays selected for the reader's own Ctrl+C. */
export function CopyBlock({ label, text, onCopied }: CopyBlockProps) {
  const code = useRef<HTMLPreElement>(null)
  const select = () => {
    if (code.current) getSelection()?.selectAllChildren(code.current)
  }
  return (
    <div className={styles['block']}>
      <pre ref={code} role="group" aria-label={label} onCopy={onCopied}>
        {text}
      </pre>
      <CopyButton text={text} label={label} onFailure={select} onCopied={onCopied} />
    </div>
  )
}

/** Also where a page over plain HTTP has no clipboard. True only if the browser confirms the copy. */
export async function copyText(text: string): Promise<boolean> {
  try {
    if (window.isSecureContext) {
      await navigator.clipboard.writeText(text)
      return true
    }
  } catch {
    // Refused by a policy or for lack of focus; the old method may still work.
  }
  return copyBySelection(text)
}

function copyBySelection(text: string): boolean {
  const field = document.createElement('textarea')
  field.value = text
  field.readOnly = true
  field.className = 'visually-hidden'
  const focused = document.activeElement
  // Inside the open dialog, because a dialog takes the focus back from everything outside it.
  const home = focused?.closest('[role="dialog"],[role="alertdialog"]') ?? document.body
  home.append(field)
  field.select()
  try {
    return document.execCommand('copy')
  } catch {
    return false
  } finally {
    field.remove()
    if (focused instanceof HTMLElement) focused.focus()
  }
}
