// Text to copy. Says "Copied" only when it was: over plain HTTP the browser offers no clipboard, so the text is selected
// and copied the old way, and where that fails too it stays selected for the person's own Ctrl-C.
import { useRef, useState } from 'react'

export function CopyBlock({ label, text }: { readonly label: string; readonly text: string }) {
  const block = useRef<HTMLPreElement>(null)
  const [outcome, setOutcome] = useState<'Copy' | 'Copied' | 'Press Ctrl-C'>('Copy')
  const onCopy = async () => {
    const copied =
      (await copyByClipboard(text)) || (block.current !== null && copyBySelection(block.current))
    setOutcome(copied ? 'Copied' : 'Press Ctrl-C')
  }
  return (
    <div className="copy-block">
      <pre ref={block} tabIndex={0} aria-label={label}>
        {text}
      </pre>
      <button type="button" onClick={() => void onCopy()} aria-live="polite">
        {outcome}
      </button>
    </div>
  )
}

async function copyByClipboard(text: string): Promise<boolean> {
  if (!window.isSecureContext) return false
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return false
  }
}

function copyBySelection(element: HTMLElement): boolean {
  window.getSelection()?.selectAllChildren(element)
  return document.execCommand('copy')
}
