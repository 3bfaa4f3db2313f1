// Code to copy. If copying fails, it stays selected for the reader's own Ctrl+C.
import { useRef } from 'react'
import { CopyButton } from './copy-button.tsx'
import styles from './copy-block.module.css'

type CopyBlockProps = {
  readonly label: string
  readonly text: string
  readonly onCopied?: () => void
}

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
