// Documentation of the admin API, from the OpenAPI document: every route with its permission, request and answer.
import { Button, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { aboutRoutes } from '../../../../src/admin/contract/about.ts'
import { addressOf, call } from '../../api.ts'
import { useTranslation } from '../../i18n/use-translation.ts'
import { EmptyState } from '../../parts/empty-state.tsx'
import { ErrorAlert } from '../../parts/error-alert.tsx'
import { CopyBlock } from '../../parts/copy-block.tsx'
import { DownloadIcon, SearchIcon } from '../../parts/icons.tsx'
import { Loading } from '../../parts/loading.tsx'
import { PageHeader } from '../../parts/page-header.tsx'
import { documentShape, operationsOf } from './document.ts'
import type { ApiDocument, Operation } from './document.ts'
import { OperationView } from './operation-view.tsx'
import styles from './api-docs.module.css'

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
      {document.error && (
        <ErrorAlert
          title={t('apiDocs.failed')}
          error={document.error}
          onRetry={() => void document.refetch()}
        />
      )}
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
      {found.length === 0 && (
        <div className="card">
          <EmptyState icon={<SearchIcon size={22} />} title={t('apiDocs.none')} />
        </div>
      )}
      {[...Map.groupBy(found, ({ tag }) => tag)].map(([tag, operations]) => (
        <section key={tag} aria-labelledby={`tag-${tag}`}>
          <h2 id={`tag-${tag}`} className={styles['tag']}>
            /{tag}
          </h2>
          <div className={styles['group']}>
            {operations.map((operation) => (
              <OperationView key={operation.id} operation={operation} url={url} />
            ))}
          </div>
        </section>
      ))}
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
