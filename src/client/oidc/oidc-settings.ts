/** An OpenID Connect issuer whose users may use the hub, and how their tokens name them. */
export interface OidcSettings {
  /** `https://…`, exactly as the issuer writes it into its tokens. */
  readonly issuer: string
  readonly clientId: string
  /** Claim of the user name; `email` is refused when the token says that the address is not verified. */
  readonly usernameClaim: string
  /** Claim of the groups. */
  readonly groupsClaim: string
  /** PEM of the CA of the issuer; the CA certificates of the machine when absent. */
  readonly ca?: string
}

export const DEFAULT_CLAIMS = { usernameClaim: 'sub', groupsClaim: 'groups' } as const

/** Prefix of the names of all users and groups of the issuer, so that none can be taken for one of the hub's own. */
export const OIDC_PREFIX = 'oidc:'
