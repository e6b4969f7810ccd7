// Tested by src/hub/console/oidc-sign-in.contract.test.ts
/** Signs a person in with an OpenID Connect issuer for `flotilla login`: a browser, and a listener on this machine. */
import { createCodeFlow } from '../../../client/oidc/code-flow.ts'
import type { BegunSignIn, IssuedTokens } from '../../../client/oidc/code-flow.ts'
import { createIssuerFetch } from '../../../client/oidc/issuer-fetch.ts'
import { silentLogger } from '../../../core/log.ts'
import { deadline, untilAborted } from '../../../core/async/deadline.ts'
import { compact } from '../../../core/compact.ts'
import { toError } from '../../../core/errors.ts'
import { systemIds } from '../../../core/system-ids.ts'
import { systemClock } from '../../../core/time/system-clock.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { readText } from '../../input/read-text-file.ts'
import type { Terminal } from '../../print/terminal.ts'

export interface OidcLogin {
  readonly issuer: string
  readonly clientId: string
  /** File with the CA of the issuer. */
  readonly ca: string | undefined
}

const WAIT_MS = 300_000
const PAGE = { 'content-type': 'text/plain; charset=utf-8', connection: 'close' } as const

/** The tokens of the person who signs in, in the browser that they open. */
export async function signInWithIssuer(login: OidcLogin, terminal: Terminal): Promise<IssuedTokens> {
  const { issuer, clientId } = login
  if (!/^https:\/\/[^\s?#]+$/.test(issuer)) {
    throw new CliError(EXIT.usage, {
      what: `invalid --oidc-issuer ${JSON.stringify(issuer)}`,
      todo: 'use https://HOST',
    })
  }
  const ca = login.ca === undefined ? undefined : await readText(login.ca)
  const flow = createCodeFlow({
    settings: { issuer, clientId },
    ids: systemIds,
    fetch: createIssuerFetch(compact({ ca })),
    renews: false,
  })
  const back = await listenForCallback()
  try {
    const begun = await flow.begin(back.address).catch(fail(issuer))
    terminal.step('next', `open this address in a browser on this machine: ${begun.address}`)
    const cameBackTo = await deadline(
      { clock: systemClock, ms: WAIT_MS, what: 'the sign-in in the browser' },
      (signal) => untilAborted(back.cameBack(begun), signal),
    ).catch(fail(issuer))
    return await flow.finish(cameBackTo, begun).catch(fail(issuer))
  } finally {
    await back.close()
  }
}

function fail(issuer: string): (caught: unknown) => never {
  return (caught) => {
    const why = toError(caught).message
    throw new CliError(
      EXIT.failed,
      { where: issuer, what: 'cannot sign in with the issuer', why, todo: 'run "flotilla login" again' },
      { cause: caught },
    )
  }
}

/** A listener for the one request with which the browser comes back. */
async function listenForCallback(): Promise<{
  readonly address: string
  cameBack(begun: Pick<BegunSignIn, 'state'>): Promise<string>
  close(): Promise<void>
}> {
  const [{ createPlainServer }, { listenOn }] = await Promise.all([
    import('../../../hub/http/plain-server.ts'),
    import('../../../hub/http/listen.ts'),
  ])
  let awaited: { readonly state: string; readonly came: (query: URLSearchParams) => void } | undefined
  const server = createPlainServer({
    name: 'login',
    log: silentLogger,
    answer: (_request, response, { path, query }) => {
      // Pages of other sites can send requests here, too; they do not know the state.
      const isBack = path === '/callback' && awaited !== undefined && query.get('state') === awaited.state
      response.writeHead(isBack ? 200 : 404, PAGE)
      response.end(isBack ? 'You can close this page and return to the terminal.\n' : 'not found\n')
      if (isBack) awaited?.came(query)
    },
  })
  const { port, close } = await listenOn(server, { host: '127.0.0.1', port: 0 })
  const address = `http://127.0.0.1:${port}/callback`
  return {
    address,
    cameBack: ({ state }) =>
      new Promise((resolve) => {
        awaited = { state, came: (query) => resolve(`${address}?${query.toString()}`) }
      }),
    close,
  }
}
