// Tested by src/source/git/submodules.contract.test.ts.
/** Signatures of commits and tags. */
import { fromUtf8, utf8 } from '../../core/bytes.ts'
import type { Source } from '../../kinds/native/source.ts'
import type { FetchContext } from '../fetch-request.ts'
import { PgpError, verifyDetached } from '../signatures/openpgp.ts'
import { SourceError } from '../source-error.ts'
import type { ChosenCommit } from './choose-commit.ts'
import type { GitCache } from './git-cache.ts'

type Verify = NonNullable<NonNullable<Source['spec']['git']>['verify']>

/** The revision to verify. */
export interface Revision {
  readonly chosen: ChosenCommit
  readonly refs: ReadonlyMap<string, string>
  readonly cache: GitCache
  readonly context: Pick<FetchContext, 'keyring' | 'clock'>
}

/** What was signed and by which key; rejects with SourceError if a signature is missing or not valid. */
export async function verifyRevision({ mode, keys }: Verify, revision: Revision): Promise<string> {
  const { chosen, cache, context } = revision
  const { keyring } = context
  if (keyring === undefined)
    throw new SourceError('KeyringMissing', `Secret ${keys} has no public key.`, { retry: true })
  const key = async (what: string, parts: Signed | undefined): Promise<string> => {
    if (!parts) throw new SourceError('NotVerified', `${what} is not signed.`, { retry: true })
    if (parts.signature.startsWith('-----BEGIN SSH')) {
      const why = 'is signed with a key of SSH, and signatures of OpenPGP alone are verified'
      throw new SourceError('NotVerified', `${what} ${why}.`, { retry: true })
    }
    try {
      return `${what} with key ${await verifyDetached(parts, keyring, context.clock.now())}`
    } catch (caught) {
      if (!(caught instanceof PgpError)) throw caught
      const message = `The signature of ${what} is not valid: ${caught.message}.`
      throw new SourceError('NotVerified', message, { retry: true, cause: caught })
    }
  }
  const verified: string[] = []
  if (mode !== 'Commit') verified.push(await key(`tag ${chosen.name}`, await signedTag(revision)))
  if (mode !== 'Tag') {
    const commit = await cache.readObject('commit', chosen.commit)
    verified.push(await key(`commit ${chosen.commit}`, splitCommit(commit)))
  }
  return verified.join(', ')
}

interface Signed {
  readonly signed: Uint8Array
  readonly signature: string
}

async function signedTag({ chosen, refs, cache }: Revision): Promise<Signed | undefined> {
  const name = chosen.name.replace(/^refs\/tags\//, '')
  const tag = refs.get(`refs/tags/${name}`)
  if (tag === undefined) {
    throw new SourceError('NotVerified', `spec.git.ref selects ${chosen.name}, which is no tag; verify the commit.`)
  }
  // A tag without ^{} is a name of the commit and nothing that can be signed.
  if (!refs.has(`refs/tags/${name}^{}`)) return undefined
  await cache.fetchCommit(tag, 1)
  const object = await cache.readObject('tag', tag)
  checkTag(object, name, chosen)
  return splitTag(object)
}

/**
 * A signature is worth what it says: the server says which commit a tag stands for, and who may push may give the tag
 * of an old commit the name of a new one.
 */
function checkTag(tag: Uint8Array, name: string, { commit }: ChosenCommit): void {
  const [, object, called] =
    /^object ([0-9a-f]+)\ntype [a-z]+\ntag ([^\n]*)\n/.exec(Buffer.from(tag).toString('utf8')) ?? []
  const differs =
    object !== commit
      ? `names the object ${object}, and not commit ${commit}`
      : called !== name
        ? `has the name ${called}`
        : undefined
  if (differs === undefined) return
  throw new SourceError('NotVerified', `The tag object of tag ${name} ${differs}.`, { retry: true })
}

const SIGNATURE = 'gpgsig '

/** A commit without its header `gpgsig`, and the signature in this header. */
function splitCommit(commit: Uint8Array): Signed | undefined {
  const text = Buffer.from(commit).toString('latin1')
  const end = text.indexOf('\n\n')
  if (end < 0) return undefined
  const kept: string[] = []
  const signature: string[] = []
  let isSignature = false
  for (const line of text.slice(0, end).split('\n')) {
    // A value of several lines goes on with lines that begin with a space.
    isSignature = line.startsWith(SIGNATURE) || (isSignature && line.startsWith(' '))
    if (isSignature) signature.push(line.replace(SIGNATURE, '').replace(/^ /, ''))
    else kept.push(line)
  }
  if (signature.length === 0) return undefined
  const signed = Buffer.from(`${kept.join('\n')}${text.slice(end)}`, 'latin1')
  return { signed, signature: `${signature.join('\n')}\n` }
}

const BEGIN = '-----BEGIN PGP SIGNATURE-----'

/** A tag without the signature at its end, and the signature. */
function splitTag(tag: Uint8Array): Signed | undefined {
  const text = Buffer.from(tag)
  const at = text.lastIndexOf(utf8(`\n${BEGIN}`))
  if (at < 0) return undefined
  return { signed: text.subarray(0, at + 1), signature: fromUtf8(text.subarray(at + 1)) }
}
