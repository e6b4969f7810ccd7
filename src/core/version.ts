/** The version of this source tree; a house test keeps it equal to package.json's. */
export const VERSION = '0.1.0'

/** The address of the documentation: the tree of `docs/`, one page per file. */
export const DOCUMENTATION = 'https://flotilla.dev/docs'
