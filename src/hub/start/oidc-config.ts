/** The settings of sign-in with an OpenID Connect issuer, and of a console beyond loopback, checked together. */
import { readFile } from 'node:fs/promises'
import type { OidcSettings } from '../../client/oidc/oidc-settings.ts'
import { DEFAULT_CLAIMS } from '../../client/oidc/oidc-settings.ts'
import { Stalled, toError } from '../../core/errors.ts'
import { Secret } from '../../core/secret.ts'
import type { HubConfig } from '../config.ts'
import { isLoopback, isWildcard, parseAddress } from '../http/listen-address.ts'

type OidcConfig = Pick<
  HubConfig,
  'oidcIssuer' | 'oidcClientId' | 'oidcClientSecretFile' | 'oidcUsernameClaim' | 'oidcGroupsClaim' | 'oidcCa'
>

type ConsoleConfig = OidcConfig & Pick<HubConfig, 'consoleListen' | 'consoleUrl' | 'consoleCert' | 'consoleKey'>

/** TLS of the console, and the address that people open. */
export interface ConsoleExposure {
  /** `https://HOST[:PORT]`; undefined on loopback without TLS. */
  readonly url?: string
  /** Files of certificate and key. */
  readonly tls?: { readonly cert: string; readonly key: string } | undefined
}

/** What is wrong with the settings together; each alone was checked when it was read. */
export function consoleConfigProblem(config: ConsoleConfig): string | undefined {
  const { oidcIssuer, oidcClientId, consoleCert, consoleKey, consoleUrl } = config
  const { host } = parseAddress(config.consoleListen)
  if ((oidcIssuer === undefined) !== (oidcClientId === undefined)) {
    return '--oidc-issuer and --oidc-client-id are given together or not at all'
  }
  const others = ['oidcClientSecretFile', 'oidcUsernameClaim', 'oidcGroupsClaim', 'oidcCa'] as const
  if (oidcIssuer === undefined && others.some((name) => config[name] !== undefined)) {
    return 'settings of OpenID Connect need --oidc-issuer and --oidc-client-id'
  }
  if ((consoleCert === undefined) !== (consoleKey === undefined)) {
    return '--console-cert and --console-key are given together or not at all'
  }
  if (consoleUrl !== undefined && consoleCert === undefined)
    return '--console-url needs --console-cert and --console-key'
  if (isLoopback(host)) return undefined
  if (consoleCert === undefined || oidcIssuer === undefined) {
    return `a console that listens on ${host} needs --console-cert, --console-key, --oidc-issuer and --oidc-client-id; without them it listens on a loopback address`
  }
  if (isWildcard(host) && consoleUrl === undefined) {
    return `a console that listens on ${host} needs --console-url with the address that people open`
  }
  return undefined
}

function checkConsoleConfig(config: ConsoleConfig): void {
  const problem = consoleConfigProblem(config)
  if (problem !== undefined) throw new Stalled('BadConfig', problem)
}

/** The issuer; undefined when the hub has none. */
export async function readOidcSettings(config: ConsoleConfig): Promise<OidcSettings | undefined> {
  checkConsoleConfig(config)
  const { oidcIssuer, oidcClientId, oidcUsernameClaim, oidcGroupsClaim, oidcCa } = config
  if (oidcIssuer === undefined || oidcClientId === undefined) return undefined
  return {
    issuer: oidcIssuer,
    clientId: oidcClientId,
    usernameClaim: oidcUsernameClaim ?? DEFAULT_CLAIMS.usernameClaim,
    groupsClaim: oidcGroupsClaim ?? DEFAULT_CLAIMS.groupsClaim,
    ...(oidcCa !== undefined && { ca: await readSetting('--oidc-ca', oidcCa) }),
  }
}

/** The secret of the client; undefined for a public client. */
export async function readClientSecret({
  oidcClientSecretFile: file,
}: OidcConfig): Promise<Secret<string> | undefined> {
  return file === undefined ? undefined : new Secret((await readSetting('--oidc-client-secret-file', file)).trim())
}

/** How people reach the console. */
export function consoleExposure(config: ConsoleConfig): ConsoleExposure {
  checkConsoleConfig(config)
  const { consoleCert, consoleKey, consoleUrl } = config
  if (consoleCert === undefined || consoleKey === undefined) return {}
  return { tls: { cert: consoleCert, key: consoleKey }, ...(consoleUrl !== undefined && { url: consoleUrl }) }
}

/** Certificate and key of the console, as the files have them now. */
export async function readCertificate(files: {
  readonly cert: string
  readonly key: string
}): Promise<{ readonly cert: string; readonly key: string }> {
  return {
    cert: await readSetting('--console-cert', files.cert),
    key: await readSetting('--console-key', files.key),
  }
}

async function readSetting(flag: string, file: string): Promise<string> {
  return await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new Stalled('BadConfig', `${flag}: cannot read ${file}: ${toError(cause).message}`)
  })
}
