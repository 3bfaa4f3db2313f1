// A copy button. It says "Copied" only after the browser did, and explains how to copy by hand if it could not.
import { Button } from '@mantine/core'
import { useEffect, useState } from 'react'
import { useTranslation } from '../i18n/use-translation.ts'
import { copyText } from './copy.ts'
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

export function CopyButton({
  text,
  label,
  variant = 'default',
  size = 'compact-sm',
  onFailure,
  onCopied,
}: CopyButtonProps) {
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
