// The errors of a form, above it, each a link to its field; takes the focus when a submit is refused.
import { useEffect, useRef } from 'react'
import { useTranslation } from '../i18n/use-translation.ts'
import { Notice } from './notice.tsx'

export type FieldError = {
  /** The id of the field's element. */
  readonly fieldId: string
  readonly label: string
  readonly message: string
}

type FormErrorSummaryProps = {
  readonly errors: readonly FieldError[]
  /** Increases with every refused submit; the focus moves here each time. */
  readonly attempt: number
}

export function FormErrorSummary({ errors, attempt }: FormErrorSummaryProps) {
  const { t } = useTranslation()
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (attempt > 0) box.current?.focus()
  }, [attempt])
  if (errors.length === 0) return null
  return (
    <div ref={box} tabIndex={-1} role="alert">
      <Notice tone="bad" title={t('form.problems', { count: errors.length })}>
        <ul>
          {errors.map(({ fieldId, label, message }) => (
            <li key={fieldId}>
              <a
                href={`#${fieldId}`}
                onClick={(event) => {
                  event.preventDefault()
                  document.getElementById(fieldId)?.focus()
                }}
              >
                {label}
              </a>
              : {message}
            </li>
          ))}
        </ul>
      </Notice>
    </div>
  )
}
