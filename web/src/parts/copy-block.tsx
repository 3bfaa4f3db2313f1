// A piece of code to copy. Where copying fails, it is left selected for the reader's own Ctrl+C.
import { useRef } from 'react'
import { CopyButton } from './copy-button.tsx'
import styles from './copy-block.module.css'

type CopyBlockProps = { readonly label: string; readonly text: string }

export function CopyBlock({ label, text }: CopyBlockProps) {
  const code = useRef<HTMLPreElement>(null)
  const select = () => {
    if (code.current) getSelection()?.selectAllChildren(code.current)
  }
  return (
    <div className={styles['block']}>
      {/* It scrolls sideways, so the keyboard must be able to reach it. */}
      <pre ref={code} tabIndex={0} role="group" aria-label={label}>
        {text}
      </pre>
      <CopyButton text={text} label={label} onFailure={select} />
    </div>
  )
}
