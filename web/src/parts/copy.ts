// Copies text to the clipboard, even where the browser offers no clipboard because the page came over plain HTTP.

/** True only if the browser confirms the copy. */
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
