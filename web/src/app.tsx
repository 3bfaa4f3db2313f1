// The first page: says whether the gateway is ready, and gives the first call to copy.
import { CopyBlock } from './parts/copy-block.tsx'
import { Mark } from './parts/mark.tsx'
import { Readiness } from './parts/readiness.tsx'

const createKey = 'npx tollgate keys create --name demo --models sandbox-chat --budget 1'

const firstCall = `curl ${location.origin}/v1/chat/completions \\
  -H "Authorization: Bearer $TOLLGATE_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"model":"sandbox-chat","messages":[{"role":"user","content":"Hello"}]}'`

const documents = [
  { file: 'README.md', about: 'the endpoints, and both official SDKs in a few lines' },
  { file: 'docs/using.md', about: 'one key per application and environment, test keys, secrets' },
  { file: 'docs/config.md', about: 'every setting of tollgate.yaml' },
  { file: 'docs/errors.md', about: 'every status and code, and what to do about it' },
]

export function App() {
  return (
    <main>
      <header>
        <Mark />
        <h1>Tollgate</h1>
        <p>One gateway to many models, with budgets that hold.</p>
      </header>

      <Readiness />

      <section aria-labelledby="first-call">
        <h2 id="first-call">Your first call</h2>
        <ol>
          <li>
            <p>
              Create a key in the folder where the gateway runs. Its secret is shown once; keep it
              in <code>TOLLGATE_API_KEY</code>.
            </p>
            <CopyBlock label="command that creates a key" text={createKey} />
          </li>
          <li>
            <p>
              Ask the sandbox. It needs no provider and no account, and answers as a model would.
            </p>
            <CopyBlock label="first call" text={firstCall} />
          </li>
        </ol>
      </section>

      <section aria-labelledby="documents">
        <h2 id="documents">Read on</h2>
        <dl>
          {documents.map(({ file, about }) => (
            <div key={file}>
              <dt>
                <code>{file}</code>
              </dt>
              <dd>{about}</dd>
            </div>
          ))}
        </dl>
      </section>
    </main>
  )
}
