// One route: a line that opens into its request, its answer and a call to paste.
import { useState } from 'react'
import { PERMISSIONS } from '../../../../src/admin/contract/permissions.ts'
import { useTranslation } from '../../i18n/use-translation.ts'
import { CopyBlock } from '../../parts/copy-block.tsx'
import type { Field, Operation } from './document.ts'
import styles from './api-docs.module.css'

type OperationViewProps = { readonly operation: Operation; readonly url: string }

export function OperationView({ operation, url }: OperationViewProps) {
  // Closed routes are not rendered: there are many, some with a hundred fields.
  const [isOpen, setOpen] = useState(false)
  const { method, path, summary } = operation
  return (
    <details
      className={styles['operation']}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary>
        <span className={styles['method']} data-method={method}>
          {method}
        </span>
        <code className={styles['path']}>{path}</code>
        <span className={styles['summary']}>{summary}</span>
      </summary>
      {isOpen && <OperationBody operation={operation} url={url} />}
    </details>
  )
}

function OperationBody({ operation, url }: OperationViewProps) {
  const { t } = useTranslation()
  const { sent, answer, status, isText } = operation
  return (
    <div className={styles['body']}>
      <p className="muted">
        <Access operation={operation} />
      </p>
      <CopyBlock label={t('apiDocs.example')} text={exampleOf(operation, url)} />
      {sent.length > 0 && <FieldTable caption={t('apiDocs.sent')} fields={sent} />}
      {isText && <p>{t('apiDocs.text', { status })}</p>}
      {answer.length > 0 && (
        <FieldTable caption={t('apiDocs.answer', { status })} fields={answer} />
      )}
    </div>
  )
}

function Access({ operation: { permission, isPublic } }: Pick<OperationViewProps, 'operation'>) {
  const { t } = useTranslation()
  if (isPublic) return t('apiDocs.public')
  const known = PERMISSIONS.find((each) => each === permission)
  if (!known) return t('apiDocs.signedIn')
  return t('apiDocs.needs', { permission: t(`permission.${known}`) })
}

type FieldTableProps = { readonly caption: string; readonly fields: readonly Field[] }

/** Wide names and types scroll inside the box, so it must be focusable from the keyboard. */
function FieldTable({ caption, fields }: FieldTableProps) {
  const { t } = useTranslation()
  return (
    <div className={styles['scroll']} tabIndex={0} role="group" aria-label={caption}>
      <table className={styles['fields']}>
        <caption>{caption}</caption>
        <thead>
          <tr>
            <th scope="col">{t('apiDocs.field')}</th>
            <th scope="col">{t('apiDocs.type')}</th>
            <th scope="col">{t('apiDocs.meaning')}</th>
          </tr>
        </thead>
        <tbody>
          {fields.map(({ name, place, type, isRequired, about }) => (
            <tr key={`${place} ${name}`}>
              <th scope="row">
                <code>{name}</code>
                {place !== 'answer' && (
                  <small>
                    {t(`apiDocs.place.${place}`)}
                    {isRequired && `, ${t('apiDocs.required')}`}
                  </small>
                )}
              </th>
              <td>
                <code>{type}</code>
              </td>
              <td>{about}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function exampleOf({ method, path, sent, isPublic }: Operation, url: string): string {
  const body = sent.filter(
    ({ place, isRequired, name }) => place === 'body' && isRequired && !/[.[]/.test(name),
  )
  const json = `{${body.map(({ name }) => `"${name}": …`).join(', ')}}`
  return [
    `curl${method === 'GET' ? '' : ` -X ${method}`} ${url}${path}`,
    ...(isPublic ? [] : ['  -H "Authorization: Bearer $TOLLGATE_TOKEN"']),
    ...(sent.some(({ place }) => place === 'body')
      ? ['  -H "Content-Type: application/json"', `  -d '${json}'`]
      : []),
  ].join(' \\\n')
}
