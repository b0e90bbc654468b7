import type { ConnectedType } from '../../../entities/knowledge/data-source.ts';
import type { JsonObject } from '../../../lib/json/json.ts';
import type { Settings } from '../../../settings.ts';
import type { Browser } from '../connections/browser.ts';
import type { AccountService } from '../connections/oauth-service.ts';
import type { AtlassianProduct } from './atlassian/site.ts';
import type { Connector } from './connector.ts';
import type { SourceMember } from './members.ts';
import type { PermissionKind } from './permissions.ts';
import type { WebServices } from './web/web.ts';

/**
 * One kind of source that a connector reads. Its record is all that the service knows of it: the inputs and types of GraphQL, the route of REST,
 * the checks of operations, bundles and jobs, connections and their pickers are made of it. One file a kind, `kind.ts` of its folder; listed in
 * registry.ts.
 */
export interface SourceKind {
  readonly type: ConnectedType;
  /** What both APIs call it: `Tracker` makes `addTrackerDataSource` and `TrackerSettings`. */
  readonly noun: string;
  /** The service in a sentence. */
  readonly description: string;
  /** What a source of it holds, in a sentence. */
  readonly content: string;
  /** The same at the input of the operation that adds it, and at the choice that leads there. Default: `content`. */
  readonly inputDescription?: string;
  readonly choiceDescription?: string;
  /** What a source is added with, in the order in which faults are named. */
  readonly members: Readonly<Record<string, SourceMember>>;
  /** The input is a list, with a source for each: its items have names of their own for members. */
  readonly each?: SourceList;
  /** Callers say how often it is read again. Default: they may. */
  readonly isPeriodRequired?: true;
  /** What the source is called. */
  sourceName(data: JsonObject): string;
  /** Adds what is wrong with members that are right by themselves. */
  check?(data: JsonObject, fault: (member: string, message: string, code?: 'EMPTY_ARRAY') => void): void;
  /** Its route on REST, below the sources of an agent. */
  readonly route: SourceRoute;
  /** Settings of the operator without which it cannot be read. */
  readonly neededSettings?: readonly (keyof Settings)[];
  /** How an account is connected in the browser. Absent: it reads without one. */
  readonly account?: AccountService;
  /** Lists what a connected account holds, for a person who picks. */
  readonly browse?: Browser;
  /** Its account may have several sites; `cloudId` of a source chooses one. */
  readonly site?: AtlassianProduct;
  /** How the rights of persons at the service are read. Absent: a source of it cannot be MIRRORED. */
  readonly permissions?: PermissionKind;
  /** Opens what reads sources of this kind. */
  open(services: WebServices): Connector;
}

export interface SourceList {
  /** The member of the input that holds the list. */
  readonly name: string;
  /** What an item is. */
  readonly noun: string;
  readonly description: string;
  readonly countMax: number;
  /** The input type of its items. */
  readonly type: string;
  readonly typeDescription: string;
  /** Names of an item → the member that it becomes, with what callers are told. */
  readonly items: Readonly<Record<string, { readonly member: string; readonly description: string }>>;
}

export interface SourceRoute {
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  /** The contract has this operation, by the name of `summary`. */
  readonly isInContract?: true;
  /** The body of a request that works. */
  readonly example: JsonObject;
}
