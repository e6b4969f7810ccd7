/** The ways to sign in. */
import { useEffect, useState } from 'react'
import type { FormEvent } from 'react'
import { read, send } from '../data/api.ts'
import { ApiFailure } from '../data/api-failure.ts'
import { Button, Command } from '../ui/parts.tsx'

interface Ways {
  /** The OpenID Connect issuer of the hub. */
  readonly issuer?: string
  /** Whether addresses with a code work: on the machine of the hub. */
  readonly hasCodes: boolean
}

export function SignIn({ onSignedIn }: { readonly onSignedIn: () => void }) {
  const [token, setToken] = useState('')
  const [problem, setProblem] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const [ways, setWays] = useState<Ways>({ hasCodes: false })

  useEffect(() => {
    read<Ways>('/console/sign-in').then(setWays, () => {})
  }, [])

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault()
    setBusy(true)
    setProblem(undefined)
    try {
      await send('/console/sign-in', { method: 'POST', body: { token: token.trim() } })
      onSignedIn()
    } catch (caught) {
      setProblem(caught instanceof ApiFailure ? caught.message : 'the hub does not answer')
    } finally {
      setBusy(false)
    }
  }

  return (
    <main className="alone sign-in">
      <h1>
        <img src="/favicon.svg" alt="" width="32" height="32" /> Sign in to Flotilla
      </h1>
      {ways.issuer !== undefined && (
        <section>
          <h2>With your account</h2>
          <p>You sign in at {new URL(ways.issuer).host} and come back to this page.</p>
          <a className="button main" href={`/console/oidc?next=${encodeURIComponent(pageNow())}`}>
            Sign in with {new URL(ways.issuer).host}
          </a>
        </section>
      )}
      {ways.hasCodes && (
        <section>
          <h2>With an address that works once</h2>
          <p>On the machine of the hub, print a new address and open it in this browser:</p>
          <Command>flotilla hub sign-in --data DIR</Command>
          <p>
            For the demo: <Command>flotilla demo page</Command>
          </p>
        </section>
      )}
      <section>
        <h2>With a token</h2>
        <p>A token of a ServiceAccount. You can do in the console what its RBAC rights allow.</p>
        <form onSubmit={(event) => void submit(event)}>
          <label htmlFor="token">Token</label>
          <input
            id="token"
            type="password"
            autoComplete="off"
            spellCheck={false}
            value={token}
            onChange={({ target }) => setToken(target.value)}
            aria-describedby={problem === undefined ? undefined : 'token-problem'}
            aria-invalid={problem !== undefined}
          />
          <Button look="main" disabled={token.trim() === '' || isBusy} onClick={(event) => void submit(event)}>
            Sign in
          </Button>
        </form>
        {problem !== undefined && (
          <p id="token-problem" className="failure" role="alert">
            {problem}
          </p>
        )}
        <p className="quiet">
          <code>kubectl create token NAME -n NAMESPACE</code> prints a token.
        </p>
      </section>
    </main>
  )
}

/** The page that the person asked for. */
function pageNow(): string {
  const { pathname, search } = window.location
  return `${pathname}${search}`
}
