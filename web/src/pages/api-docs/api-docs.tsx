// Documentation of the admin API, from the OpenAPI document: every route with its permission, request and answer.
import { Button, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { aboutRoutes } from '../../../../src/admin/contract/gateway.ts'
import { PERMISSIONS } from '../../../../src/admin/contract/permissions.ts'
import { addressOf, call } from '../../base/api.ts'
import { useTranslation } from '../../i18n/i18n.ts'
import { CopyBlock } from '../../parts/copy.tsx'
import { useFold } from '../../parts/data-table.tsx'
import { DownloadIcon, SearchIcon } from '../../parts/icons.tsx'
import { EmptyState, Loading, QueryError } from '../../parts/notices.tsx'
import { PageHeader } from '../../parts/page-header.tsx'
import styles from './api-docs.module.css'
import { documentShape, operationsOf } from './document.ts'
import type { ApiDocument, Field, Operation } from './document.ts'

export function ApiDocsPage() {
  const { t } = useTranslation()
  const document = useQuery({
    queryKey: ['openapi'],
    queryFn: async ({ signal }) =>
      documentShape.parse(await call(aboutRoutes.readOpenApi, { signal })),
    staleTime: Infinity,
  })
  return (
    <>
      <PageHeader
        title={t('nav.apiDocs')}
        about={
          <>
            {t('apiDocs.about')} <Link to="/settings/profile">{t('apiDocs.makeToken')}</Link>
          </>
        }
        actions={
          <Button
            component="a"
            href={addressOf(aboutRoutes.readOpenApi, {})}
            download="openapi.json"
            variant="default"
            leftSection={<DownloadIcon />}
          >
            {t('apiDocs.download')}
          </Button>
        }
      />
      <QueryError title={t('apiDocs.failed')} query={document} />
      {document.isPending && <Loading lines={8} height={44} />}
      {document.data && <Operations document={document.data} />}
    </>
  )
}

function Operations({ document }: { readonly document: ApiDocument }) {
  const { t } = useTranslation()
  const [search, setSearch] = useState('')
  const all = useMemo(() => operationsOf(document), [document])
  const url = document.servers[0]?.url ?? ''
  const found = all.filter((operation) => matches(operation, search))
  const fold = useFold(found.length)
  const foldOf = (operation: Operation | undefined) =>
    operation && fold.classNameAt(found.indexOf(operation))
  return (
    <>
      <CopyBlock
        label={t('profile.tokenExample')}
        text={`curl ${url}/keys -H "Authorization: Bearer $TOLLGATE_TOKEN"`}
      />
      <TextInput
        className={styles['search']}
        type="search"
        label={t('apiDocs.search')}
        leftSection={<SearchIcon />}
        value={search}
        onChange={({ currentTarget }) => setSearch(currentTarget.value)}
      />
      <p className="visually-hidden" role="status">
        {t('apiDocs.found', { count: found.length })}
      </p>
      {found.length === 0 && <EmptyState icon={SearchIcon} title={t('apiDocs.none')} />}
      <div className={fold.className}>
        {[...Map.groupBy(found, ({ tag }) => tag)].map(([tag, operations]) => (
          <section key={tag} aria-labelledby={`tag-${tag}`} className={foldOf(operations[0])}>
            <h2 id={`tag-${tag}`} className={styles['tag']}>
              /{tag}
            </h2>
            <div className={styles['group']}>
              {operations.map((operation) => (
                <div key={operation.id} className={foldOf(operation)}>
                  <OperationView operation={operation} url={url} />
                </div>
              ))}
            </div>
          </section>
        ))}
      </div>
      {fold.button}
    </>
  )
}

function matches({ method, path, summary, id }: Operation, search: string): boolean {
  const text = `${method} ${path} ${summary} ${id}`.toLowerCase()
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word))
}

type OperationViewProps = { readonly operation: Operation; readonly url: string }

function OperationView({ operation, url }: OperationViewProps) {
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
        <span className={styles['summary']} lang="en">
          {summary}
        </span>
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
              <td lang="en">{about}</td>
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
