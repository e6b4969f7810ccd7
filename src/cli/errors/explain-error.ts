/** Turns a caught value into an error report and an exit code. */
import { ApiError, errorHints, Stalled, toError } from '../../core/errors.ts'
import { compact } from '../../core/compact.ts'
import { CliError, EXIT } from './cli-error.ts'
import type { ExitCode, ErrorReport } from './cli-error.ts'

/** An error report with the exit code of the command. */
export interface ExplainedError {
  readonly exitCode: ExitCode
  readonly report: ErrorReport
  /** The certificate of the server is not the one that the kubeconfig expects. */
  readonly certificateMismatch?: true
}

/** The hub that the command connected to. */
export interface ErrorContext {
  readonly server?: string
  readonly kubeconfig?: string
}

export function explainError(caught: unknown, hub: ErrorContext = {}): ExplainedError {
  const error = toError(caught)
  if (error instanceof CliError) return { exitCode: error.exitCode, report: error.report }
  if (error instanceof ApiError) return explainApiError(error, hub)
  if (error instanceof Stalled) {
    return { exitCode: EXIT.failed, report: { what: error.message, ...errorHints(error) } }
  }
  const network = explainNetworkError(error, hub)
  if (network) return network
  if (error.name === 'YamlError') {
    return { exitCode: EXIT.usage, report: { what: 'invalid YAML', why: error.message } }
  }
  return { exitCode: EXIT.failed, report: compact({ where: hub.server, what: messageChain(error) }) }
}

function explainApiError(error: ApiError, { server }: ErrorContext): ExplainedError {
  const hints = errorHints(error)
  const on = compact({ where: server })
  const what = withCauses(error)
  switch (error.reason) {
    case 'NotFound':
      return { exitCode: EXIT.notFound, report: { what, ...hints } }
    case 'Unauthorized':
      return {
        exitCode: EXIT.forbidden,
        report: {
          ...on,
          what: 'not authenticated',
          why: error.message,
          todo: 'log in with "flotilla login", or give the admin.kubeconfig of the hub with --kubeconfig',
          ...hints,
        },
      }
    case 'Forbidden':
      return { exitCode: EXIT.forbidden, report: { ...on, what, ...hints } }
    case 'AlreadyExists':
      return { exitCode: EXIT.conflict, report: { what, ...hints } }
    case 'Conflict':
      return {
        exitCode: EXIT.conflict,
        report: {
          what: `conflict: ${what}`,
          todo: 'read the object again and repeat the command; "flotilla apply --force-conflicts" takes over the fields',
          ...hints,
        },
      }
    case 'Invalid':
    case 'BadRequest':
      return { exitCode: error.reason === 'Invalid' ? EXIT.failed : EXIT.usage, report: { what, ...hints } }
    case 'Timeout':
    case 'TooManyRequests':
    case 'ServiceUnavailable':
      return {
        exitCode: error.reason === 'Timeout' ? EXIT.timeout : EXIT.failed,
        report: { ...on, what: 'the hub is busy', why: error.message, todo: 'try again in a few seconds', ...hints },
      }
    default:
      return { exitCode: EXIT.failed, report: { ...on, what: 'the hub refused the request', why: what, ...hints } }
  }
}

/** The message of the API, followed by the causes that it does not mention. */
function withCauses({ message, details }: ApiError): string {
  const missing = (details.causes ?? [])
    .map((cause) => (cause.field ? `${cause.field}: ${cause.message}` : cause.message))
    .filter((cause) => !message.includes(cause))
  return missing.length === 0 ? message : `${message}: ${missing.join(', ')}`
}

const NETWORK: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  ENOTFOUND: 'no such host',
  EAI_AGAIN: 'cannot resolve the host name',
  EHOSTUNREACH: 'no route to host',
  ENETUNREACH: 'network unreachable',
  ETIMEDOUT: 'connection timed out',
  UND_ERR_CONNECT_TIMEOUT: 'connection timed out',
  UND_ERR_SOCKET: 'connection reset',
}

function explainNetworkError(error: Error, { server, kubeconfig }: ErrorContext): ExplainedError | undefined {
  const found = systemError(error)
  if (!found) return undefined
  const { code, address, port } = found
  if (code === 'EADDRINUSE') {
    const listener = address === undefined ? 'the address' : `address ${address}${port === undefined ? '' : `:${port}`}`
    return {
      exitCode: EXIT.failed,
      report: {
        what: `${listener} is already in use (EADDRINUSE)`,
        todo: 'stop the process that uses the address, or choose another port (port 0 selects a free port)',
      },
    }
  }
  if (Object.hasOwn(NETWORK, code)) {
    const origin = kubeconfig === undefined ? '' : ` (the address came from ${kubeconfig})`
    return {
      exitCode: EXIT.failed,
      report: {
        where: server ?? messageChain(error),
        what: 'cannot reach the hub',
        why: `${NETWORK[code]} (${code})`,
        todo: `start the hub, or choose another hub with --kubeconfig${origin}`,
      },
    }
  }
  if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS|ERR_SSL/.test(code)) {
    return {
      certificateMismatch: true,
      exitCode: EXIT.forbidden,
      report: {
        where: server ?? 'the API server',
        what: 'the certificate of the server does not match the kubeconfig',
        why: messageChain(error),
        todo: 'copy a new admin.kubeconfig from the data directory of the hub',
      },
    }
  }
  return undefined
}

interface SystemError {
  readonly code: string
  readonly address?: string
  readonly port?: number
}

const DEPTH = 5

/** The first error of the chain of causes that has an error code of Node.js. */
function systemError(error: Error): SystemError | undefined {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < DEPTH; at = at.cause, depth++) {
    if ('code' in at && typeof at.code === 'string') return at as Error & SystemError
    if (at instanceof AggregateError && at.errors[0] instanceof Error) {
      const inner = systemError(at.errors[0])
      if (inner !== undefined) return inner
    }
  }
  return undefined
}

function messageChain(error: Error): string {
  const messages: string[] = []
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < DEPTH; at = at.cause, depth++) {
    const { message } = at
    if (message && !messages.some((outer) => outer.includes(message))) messages.push(message)
  }
  return messages.join(': ') || error.name
}
