#!/usr/bin/env bash
# @node-saml/node-saml 5.1.0 keeps one value of an attribute that an assertion states several times. SAML 2.0 (core, 2.7.3) lets a statement hold any
# number of attributes, and Keycloak writes each role as an `Attribute` of its own unless it is told otherwise. Of the roles editor, viewer and
# auditor, `profile.attributes.Role` is "auditor", the last, and `profile.Role` "editor", the first; nothing is raised, and one attribute with three
# values is right in both. samlify 2.13.1 gives all three of either form. So who signs in has one of several roles, and another one by the
# other member: tell the identity provider to write one attribute, or read the assertion (`getAssertionXml()` of the profile).
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @node-saml/node-saml@5.1.0 samlify@2.13.1 xml-crypto@6.3.2 selfsigned@5.5.0 >/dev/null
cat >probe.mjs <<'JS'
import { SAML } from '@node-saml/node-saml';
import samlify from 'samlify';
import { generate } from 'selfsigned';
import { SignedXml } from 'xml-crypto';

const { private: privateKey, cert } = await generate([{ name: 'commonName', value: 'idp' }], { keySize: 2048 });
const [idp, sp, acs] = ['https://idp.example', 'https://sp.example', 'https://sp.example/acs'];
const now = new Date().toISOString();
const soon = new Date(Date.now() + 600_000).toISOString();

function sign(xml, id) {
  const digest = 'http://www.w3.org/2001/04/xmlenc#sha256';
  const canonical = 'http://www.w3.org/2001/10/xml-exc-c14n#';
  const signature = new SignedXml({ privateKey, publicCert: cert, canonicalizationAlgorithm: canonical });
  signature.signatureAlgorithm = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256';
  const transforms = ['http://www.w3.org/2000/09/xmldsig#enveloped-signature', canonical];
  signature.addReference({ xpath: `//*[@ID='${id}']`, transforms, digestAlgorithm: digest });
  signature.computeSignature(xml, { location: { reference: `//*[@ID='${id}']/*[local-name()='Issuer']`, action: 'after' } });
  return signature.getSignedXml();
}

function response(attributes) {
  const urn = 'urn:oasis:names:tc:SAML:2.0';
  const xml = `<p:Response xmlns:p="${urn}:protocol" xmlns:a="${urn}:assertion" ID="_r" Version="2.0" IssueInstant="${now}" Destination="${acs}">
    <a:Issuer>${idp}</a:Issuer><p:Status><p:StatusCode Value="${urn}:status:Success"/></p:Status>
    <a:Assertion ID="_a" Version="2.0" IssueInstant="${now}"><a:Issuer>${idp}</a:Issuer>
      <a:Subject><a:NameID>ann</a:NameID><a:SubjectConfirmation Method="${urn}:cm:bearer">
        <a:SubjectConfirmationData NotOnOrAfter="${soon}" Recipient="${acs}"/></a:SubjectConfirmation></a:Subject>
      <a:Conditions NotOnOrAfter="${soon}"><a:AudienceRestriction><a:Audience>${sp}</a:Audience></a:AudienceRestriction></a:Conditions>
      <a:AttributeStatement>${attributes.map((values) => `<a:Attribute Name="Role">${values.map((value) => `<a:AttributeValue>${value}</a:AttributeValue>`).join('')}</a:Attribute>`).join('')}</a:AttributeStatement>
    </a:Assertion></p:Response>`;
  return Buffer.from(sign(sign(xml.replace(/>\s+</g, '><'), '_a'), '_r')).toString('base64');
}

console.warn = () => {};
samlify.setSchemaValidator({ validate: async () => 'valid' });
const binding = (name) => `urn:oasis:names:tc:SAML:2.0:bindings:HTTP-${name}`;
const provider = samlify.IdentityProvider({ entityID: idp, signingCert: cert, singleSignOnService: [{ Binding: binding('Redirect'), Location: idp }] });
const service = samlify.ServiceProvider({ entityID: sp, wantMessageSigned: true, assertionConsumerService: [{ Binding: binding('POST'), Location: acs }] });
const node = new SAML({ callbackUrl: acs, issuer: sp, audience: sp, idpCert: cert, entryPoint: idp, validateInResponseTo: 'never' });

const seen = [];
for (const [form, attributes] of [['one attribute with three values', [['editor', 'viewer', 'auditor']]], ['three attributes of one name', [['editor'], ['viewer'], ['auditor']]]]) {
  const SAMLResponse = response(attributes);
  const { profile } = await node.validatePostResponseAsync({ SAMLResponse });
  const { extract } = await service.parseLoginResponse(provider, 'post', { body: { SAMLResponse } });
  const found = [profile.attributes.Role, profile.Role, extract.attributes.Role];
  console.log(`${form}: node-saml attributes.Role ${JSON.stringify(found[0])}, Role ${JSON.stringify(found[1])}; samlify ${JSON.stringify(found[2])}`);
  seen.push(found);
}
const all = ['editor', 'viewer', 'auditor'];
if (JSON.stringify(seen) !== JSON.stringify([[all, all, all], ['auditor', 'editor', all]])) {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
JS
for name in @node-saml/node-saml samlify; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen:
#   one attribute with three values: node-saml attributes.Role ["editor","viewer","auditor"], Role ["editor","viewer","auditor"]; samlify
#     ["editor","viewer","auditor"]
#   three attributes of one name: node-saml attributes.Role "auditor", Role "editor"; samlify ["editor","viewer","auditor"]
