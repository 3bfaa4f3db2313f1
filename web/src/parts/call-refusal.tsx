// Why a call was refused, or would be: in the reader's language, and below it word for word what an application gets.
import { useTranslation } from '../i18n/use-translation.ts'

type CallRefusalProps = {
  readonly error: { readonly code: string; readonly message: string }
}

export function CallRefusal({ error: { code, message } }: CallRefusalProps) {
  const { find } = useTranslation()
  return (
    <>
      <div>{find(`callError.${code}`)}</div>
      <div className="muted break" lang="en">
        {message}
      </div>
    </>
  )
}
