/** The house rules as pure functions: files in, complaints out. Each complaint says what to do instead. */
import { DYNAMIC_IMPORTS, PURE_ROOMS, ROOMS, STATIC_IMPORTS } from './rooms.ts'
import type { Room } from './rooms.ts'
import { isTest, resolveImport, roomOf } from './source-tree.ts'
import type { SourceFile } from './source-tree.ts'

/** One broken rule. */
export interface Complaint {
  readonly rule: string
  readonly path: string
  readonly says: string
}

function isRoom(name: string | undefined): name is Room {
  return name !== undefined && (ROOMS as readonly string[]).includes(name)
}

/** Imports between rooms go only where the table allows. */
export function roomImports(files: readonly SourceFile[]): Complaint[] {
  return files.flatMap((file) => {
    const from = roomOf(file.path)
    if (!isRoom(from)) {
      return [{ rule: 'rooms', path: file.path, says: `is in no room; the rooms are ${ROOMS.join(', ')}` }]
    }
    if (isTest(file.path)) return []
    return file.imports
      .filter(({ specifier }) => specifier.startsWith('.'))
      .flatMap(({ specifier, dynamic }) => {
        const target = resolveImport(file, specifier)
        const to = roomOf(target)
        const allowed = [from, ...STATIC_IMPORTS[from], ...(dynamic ? (DYNAMIC_IMPORTS[from] ?? []) : [])]
        if (to !== undefined && allowed.includes(to)) return []
        const how = dynamic ? 'dynamically import' : 'import'
        return [
          {
            rule: 'imports',
            path: file.path,
            says: `${from} may not ${how} ${to ?? target} (${specifier}); it may import ${STATIC_IMPORTS[from].join(', ') || 'nothing of ours'}: pass what it needs as a port`,
          },
        ]
      })
  })
}

/** Dialects do not import one another, and nothing of the core imports a dialect. */
export function dialectImports(files: readonly SourceFile[]): Complaint[] {
  const dialectOf = (path: string) => /^src\/dialects\/([^/]+)\//.exec(path)?.[1]
  return files.flatMap((file) => {
    const own = dialectOf(file.path)
    if (own === undefined) return []
    return file.imports
      .filter(({ specifier }) => specifier.startsWith('.'))
      .map(({ specifier }) => dialectOf(resolveImport(file, specifier)))
      .filter((other) => other !== undefined && other !== own)
      .map((other) => ({
        rule: 'dialects',
        path: file.path,
        says: `dialect ${own} imports dialect ${other}; what they share belongs into the core`,
      }))
  })
}

/** Pure rooms reach Node through core/bytes.ts alone. */
export function pureRooms(files: readonly SourceFile[]): Complaint[] {
  return files
    .filter((file) => (PURE_ROOMS as readonly (string | undefined)[]).includes(roomOf(file.path)))
    .filter((file) => !isTest(file.path) && file.path !== 'src/core/bytes.ts')
    .flatMap((file) =>
      file.imports
        .filter(({ specifier, typeOnly }) => specifier.startsWith('node:') && !typeOnly)
        .map(({ specifier }) => ({
          rule: 'pure',
          path: file.path,
          says: `a pure room imports ${specifier}; hashing and compression are in core/bytes.ts, everything else comes in by port`,
        })),
    )
}

const DOORS: readonly { readonly word: RegExp; readonly says: string; readonly except: RegExp }[] = [
  {
    word: /\bnew Date\b|\bDate\.(now|parse|UTC)\b/,
    says: 'asks for the time; take the clock from the context, parse and format in core/time/time.ts',
    except: /^src\/(core\/time\/(time|system-clock)|hub\/threads\/main-watchdog)\.ts$/,
  },
  {
    // A connection's own idle timer is no wait of ours.
    word: /(?<!\b(?:socket|session|request)\.)\b(setTimeout|setInterval|setImmediate)\(/,
    says: 'waits on its own; use clock.sleep(ms, signal)',
    // The watchdog is a text of its own thread, which has no clock to take.
    except: /^src\/(core\/time\/system-clock|hub\/threads\/main-watchdog|sim\/kernel\/.*)\.ts$/,
  },
  {
    word: /\bMath\.random\b|\brandomUUID\b|\bgetRandomValues\b|^import .*\brandom(Bytes|Uid|Fraction)\b/,
    says: 'makes randomness; take ids from the context',
    except: /^src\/core\/(bytes|system-ids)\.ts$/,
  },
  {
    word: /\bprocess\.env\b/,
    says: "reads the environment; only a binary's config.ts does",
    except: /^src\/(hub|agent|cli)\/config\.ts$/,
  },
  {
    word: /\bcreate(Secure)?Server\b/,
    says: 'opens a listener whose handler may end the process; use createPlainServer of hub/http/plain-server.ts',
    except: /^src\/(hub\/http\/(plain-server|free-port)|(apiserver\/http|gateway)\/https-listener)\.ts$/,
  },
  {
    word: /\bnew URL\([^)]*\brequest\.(url|path)\b/,
    says: 'throws on a malformed request target; split the path by hand, or use readTarget of hub/http/plain-server.ts',
    except: /^$/,
  },
]

/** Time, timers, randomness, the environment, listeners and request targets have one door each. */
export function doors(files: readonly SourceFile[]): Complaint[] {
  return files
    .filter((file) => !isTest(file.path))
    .flatMap((file) =>
      DOORS.filter(({ except }) => !except.test(file.path)).flatMap(({ word, says }) => {
        const line = file.text.split('\n').findIndex((text) => word.test(text) && !/^\s*(\/\/|\*|\/\*)/.test(text))
        return line < 0 ? [] : [{ rule: 'doors', path: `${file.path}:${line + 1}`, says }]
      }),
    )
}

/**
 * Numbers in what strangers send are read by core/read-number.ts: `Number` also reads lengths that never move a reader
 * on.
 */
export function foreignNumbers(files: readonly SourceFile[]): Complaint[] {
  return files
    .filter(({ path }) => !isTest(path) && (roomOf(path) === 'source' || path.endsWith('/tar.ts')))
    .flatMap((file) => {
      const line = file.text.split('\n').findIndex((text) => /\bNumber\(|\bparse(Int|Float)\(/.test(text))
      const says = 'reads a number from foreign text with Number or parseInt; use core/read-number.ts'
      return line < 0 ? [] : [{ rule: 'numbers', path: `${file.path}:${line + 1}`, says }]
    })
}

/** Repeated groups with a repetition inside, each read by a person: no text can be split by them in two ways. */
const NESTED_REPETITIONS: ReadonlySet<string> = new Set([
  String.raw`(?:[\t\n\f\r ]+|\/\/[^\n]*)+`,
  String.raw`(?:[^,(]|\([^)]*\))+`,
  String.raw`-v?\d+(\.\d+)*([-+].*)?$`,
  String.raw`^(\.[A-Za-z_][\w-]*|\[\]|\["[^"]+"\])+$`,
  String.raw`^[\^~<>=!]|[*\s]|\|\||,|^v?\d+(\.\d+)*\.[xX]$`,
  String.raw`^(\d+[hms])+$`,
  String.raw`\[\?\(\s*@((?:\.[A-Za-z0-9_\\.-]+)*)\s*(==|!=)\s*("[^"]*"|'[^']*'|[^\s)]+)\s*\)\]`,
  String.raw`(?:\[[^\]]*\]|[^\s,[])+`,
  String.raw`^(\/[^/]+)+$`,
  String.raw`^\s*v?([0-9]+(?:\.[0-9]+)*)(?:[^0-9.].*|\.)?$`,
  String.raw`^(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)(?:-(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$`,
  String.raw`^[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}$`,
  String.raw`^(?:[^{}]|\{[^{}]*\})*$`,
  String.raw`^#(?:\/[\w$.-]+)*$`,
  String.raw`^https?:\/\/[\w.-]+(?:\/[\w.-]+)*$`,
  String.raw`\$\w+(?:\.\w+)*\.\$(?:\.\w+)*`,
  String.raw`^\.[0-9]+(?:_[0-9]+)*(?:[eE][-+]?[0-9]+(?:_[0-9]+)*)?$`,
])

const LITERAL = /(?<=[=(,:!&|?{\s]|^)\/(?![*/])((?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+)\/[dgimsuvy]*/g
const NESTED =
  /\((?:\?[:=!<]*)?(?:\\.|\[(?:\\.|[^\]])*\]|[^()\\[])*(?:[+*]|\{\d+,\})\??(?:\\.|\[(?:\\.|[^\]])*\]|[^()\\[])*\)(?:[+*]|\{\d+,\})/

/** A regular expression of ours cannot backtrack without end: rules for expressions from text are patternsFromText. */
export function nestedRepetitions(files: readonly SourceFile[]): Complaint[] {
  return files
    .filter(({ path }) => !isTest(path) && !path.startsWith('src/testing/'))
    .flatMap((file) =>
      file.text.split('\n').flatMap((text, at) => {
        if (/^\s*(\/\/|\*|\/\*)/.test(text)) return []
        return [...text.matchAll(LITERAL)]
          .map(([, source = '']) => source)
          .filter((source) => NESTED.test(source) && !NESTED_REPETITIONS.has(source))
          .map((source) => ({
            rule: 'patterns',
            path: `${file.path}:${at + 1}`,
            says: `/${source}/ repeats a group with a repetition inside, which can take for ever; write it without, or show that it is linear and list it`,
          }))
      }),
    )
}

/** A name says what a thing is. */
export function fileNames(files: readonly SourceFile[]): Complaint[] {
  return files
    .filter(({ path }) => /(^|[/-])(utils?|helpers?|common|misc)([-./]|$)/.test(path))
    .map(({ path }) => ({ rule: 'names', path, says: 'is named after nothing; name it by what it is to its reader' }))
}

/** Only tests import src/testing and test libraries. */
export function testOnly(files: readonly SourceFile[]): Complaint[] {
  return files
    .filter((file) => !isTest(file.path))
    .flatMap((file) =>
      file.imports
        .filter(({ specifier }) => /^(node:test|fast-check|playwright-core)/.test(specifier))
        .map(({ specifier }) => ({ rule: 'tests', path: file.path, says: `imports ${specifier}; only tests may` })),
    )
}

/** All rules over the sources. */
export const RULES = {
  roomImports,
  dialectImports,
  pureRooms,
  doors,
  foreignNumbers,
  nestedRepetitions,
  fileNames,
  testOnly,
} as const
