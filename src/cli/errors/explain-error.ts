/** Turns whatever a command threw into four lines and an exit code. */
import { isApiError, toError } from '../../core/errors.ts'
import type { ApiError } from '../../core/errors.ts'
import { CliError, EXIT } from './cli-error.ts'
import type { ExitCode, ErrorReport } from './cli-error.ts'

/** A failure in a person's words. */
export interface ExplainedError {
  readonly exitCode: ExitCode
  readonly trouble: ErrorReport
}

/** Where the command was talking to, when it was. */
export interface ErrorContext {
  readonly server?: string
  readonly kubeconfig?: string
}

// Most sentences of the hub's own code end with what to do.
const ADVICE = /^(.*): ((?:give|move|name|put|restore|say|start|stop|try|use) .*)$/s

/** Explains a caught value. */
export function explainError(caught: unknown, scene: ErrorContext = {}): ExplainedError {
  const error = toError(caught)
  if (error instanceof CliError) return { exitCode: error.exitCode, trouble: error.trouble }
  if (isApiError(error)) return explainApiError(error, scene)
  const network = explainNetworkError(error, scene)
  if (network) return network
  if (error.name === 'YamlError') {
    return { exitCode: EXIT.usage, trouble: { what: 'the file is not valid YAML', why: error.message } }
  }
  if (error.name === 'Stalled') {
    const [, what = error.message, todo] = ADVICE.exec(error.message) ?? []
    return { exitCode: EXIT.failed, trouble: { what, ...(todo !== undefined && { todo }) } }
  }
  return { exitCode: EXIT.failed, trouble: { what: chainOf(error), ...(scene.server && { where: scene.server }) } }
}

function explainApiError(error: ApiError, scene: ErrorContext): ExplainedError {
  const { kind, name } = error.details
  const object = [kind, name].filter(Boolean).join(' ')
  const base = { where: [object, scene.server].filter(Boolean).join(' on ') }
  const why = error.message
  switch (error.reason) {
    case 'NotFound':
      return { exitCode: EXIT.notFound, trouble: { what: 'not found', ...base, why } }
    case 'Unauthorized':
      return {
        exitCode: EXIT.forbidden,
        trouble: {
          what: 'the hub does not know you',
          ...base,
          why,
          todo: 'use the hub’s DIR/admin.kubeconfig with --kubeconfig, or ask its operator for one',
        },
      }
    case 'Forbidden':
      return { exitCode: EXIT.forbidden, trouble: { what: 'not allowed', ...base, why } }
    case 'Conflict':
    case 'AlreadyExists':
      return {
        exitCode: EXIT.conflict,
        trouble: {
          what: error.reason === 'Conflict' ? 'somebody else wants it otherwise' : 'it exists already',
          ...base,
          why: withCauses(error),
          ...(error.reason === 'Conflict' && {
            todo: 'look at it again and repeat; for apply, --force-conflicts takes the fields over',
          }),
        },
      }
    case 'Invalid':
    case 'BadRequest':
      return {
        exitCode: error.reason === 'Invalid' ? EXIT.failed : EXIT.usage,
        trouble: {
          what: 'the hub refused it as invalid',
          ...base,
          why: withCauses(error),
          todo: 'correct these fields',
        },
      }
    case 'Timeout':
    case 'TooManyRequests':
    case 'ServiceUnavailable':
      return {
        exitCode: error.reason === 'Timeout' ? EXIT.timeout : EXIT.failed,
        trouble: { what: 'the hub is busy', ...base, why, todo: 'try again in a few seconds' },
      }
    default:
      return { exitCode: EXIT.failed, trouble: { what: 'the hub refused', ...base, why } }
  }
}

function withCauses(error: ApiError): string {
  const causes = (error.details.causes ?? []).map((cause) =>
    cause.field ? `${cause.field}: ${cause.message}` : cause.message,
  )
  return causes.every((cause) => error.message.includes(cause))
    ? error.message
    : `${error.message}: ${causes.join(', ')}`
}

const NETWORK: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nobody listens there',
  ECONNRESET: 'the connection was cut',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the name could not be resolved',
  EHOSTUNREACH: 'there is no route to it',
  ENETUNREACH: 'there is no route to it',
  ETIMEDOUT: 'it did not answer',
  UND_ERR_CONNECT_TIMEOUT: 'it did not answer',
  UND_ERR_SOCKET: 'the connection was cut',
}

function explainNetworkError(error: Error, scene: ErrorContext): ExplainedError | undefined {
  const code = codeOf(error)
  if (code === 'EADDRINUSE') {
    const address = /[^\s]+:\d+$/.exec(chainOf(error))?.[0] ?? ''
    return {
      exitCode: EXIT.failed,
      trouble: {
        what: `the address ${address} is in use`,
        why: chainOf(error),
        todo: 'stop what listens there, or choose another port (0 picks a free one)',
      },
    }
  }
  const why = code === undefined ? undefined : NETWORK[code]
  if (why !== undefined) {
    return {
      exitCode: EXIT.failed,
      trouble: {
        what: 'the hub cannot be reached',
        where: scene.server ?? chainOf(error),
        why: `${why} (${code})`,
        todo: scene.kubeconfig
          ? `start the hub, or name another one with --kubeconfig (this one came from ${scene.kubeconfig})`
          : 'start the hub, or name another one with --kubeconfig',
      },
    }
  }
  if (code !== undefined && /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS|ERR_SSL/.test(code)) {
    return {
      exitCode: EXIT.forbidden,
      trouble: {
        what: 'the server is not the one the kubeconfig names',
        where: scene.server ?? 'the API server',
        why: chainOf(error),
        todo: 'take a fresh DIR/admin.kubeconfig from the hub',
      },
    }
  }
  return undefined
}

function codeOf(error: Error): string | undefined {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    const { code } = at as { code?: unknown }
    if (typeof code === 'string') return code
    if (at instanceof AggregateError && at.errors[0] instanceof Error) {
      const inner = codeOf(at.errors[0])
      if (inner !== undefined) return inner
    }
  }
  return undefined
}

function chainOf(error: Error): string {
  const messages: string[] = []
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    if (at.message && !messages.includes(at.message)) messages.push(at.message)
  }
  return messages.join(': ') || error.name
}
