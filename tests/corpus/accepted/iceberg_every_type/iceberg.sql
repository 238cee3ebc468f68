CREATE TABLE `everything` (
  `key` BIGINT NOT NULL,
  `bool` BOOLEAN NOT NULL,
  `int` INT NOT NULL,
  `float` FLOAT NOT NULL,
  `double` DOUBLE NOT NULL,
  `decimal` DECIMAL(38,10) NOT NULL,
  `date` DATE NOT NULL,
  `timestamp` TIMESTAMP_NTZ NOT NULL,
  `timestamptz` TIMESTAMP NOT NULL,
  `string` STRING NOT NULL COMMENT 'What it\'s called, in `Spark` too',
  `binary` BINARY NOT NULL,
  `fixed` BINARY NOT NULL,
  `list` ARRAY<BIGINT> NOT NULL,
  `map` MAP<STRING, DOUBLE> NOT NULL,
  `struct` STRUCT<`odd ``name```: STRING NOT NULL, `y`: ARRAY<INT> NOT NULL>
)
USING iceberg
COMMENT 'All that Iceberg\'s format 2 has'
TBLPROPERTIES (
  'format-version' = '2'
);
ALTER TABLE `everything` SET IDENTIFIER FIELDS `key`;
